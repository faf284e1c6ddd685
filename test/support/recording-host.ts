// A host that keeps all that a run says and all that it would have kept in checkpoints, in memory: what resumed runs go on from and are
// compared by. It never waits, and asks for no pause.
import type { Entry } from '../../api/contract/event.ts';
import type { SampleLine } from '../../api/contract/results.ts';
import type { Carried, Point, PointKind } from '../../runner/cascade/point.ts';
import type { Host } from '../../runner/cascade/host.ts';
import type { Learner, LearnerState } from '../../runner/engine/learner/learner.ts';
import { noWaiting } from './tiny-policy.ts';

export interface Snapshot {
  readonly point: Point;
  readonly kind: PointKind;
  readonly carried: Carried;
  readonly state: LearnerState;
}

/** Of views that training changes. */
export const copyOfState = ({
  weights,
  firstMoment,
  secondMoment,
  stepCount,
}: LearnerState): LearnerState => ({
  weights: weights.slice(),
  firstMoment: firstMoment.slice(),
  secondMoment: secondMoment.slice(),
  stepCount,
});

export interface RecordingHost extends Host {
  readonly entries: Entry[];
  readonly kept: SampleLine[];
  readonly snapshots: Snapshot[];
}

export function recordingHost(learner: Pick<Learner, 'state'>): RecordingHost {
  const entries: Entry[] = [];
  const kept: SampleLine[] = [];
  const snapshots: Snapshot[] = [];
  return {
    entries,
    kept,
    snapshots,
    clock: noWaiting,
    alive: () => undefined,
    pauseAsked: () => false,
    emit: (entry) => void entries.push(entry),
    progress: () => undefined,
    samples: async (lines) => void kept.push(...lines),
    snapshot: async (point, kind, carried) => {
      // At once: what is carried goes on changing.
      const copied = structuredClone(carried);
      snapshots.push({ point, kind, carried: copied, state: copyOfState(await learner.state()) });
    },
  };
}
