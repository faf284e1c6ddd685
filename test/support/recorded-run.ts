// A cascade run in this process on the tiny policy, with all that it says and keeps: what resumed runs are compared by.
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import type { SampleLine } from '../../api/contract/results.ts';
import type { Carried, Point, PointKind } from '../../runner/cascade/point.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import type { Datasets, Host } from '../../runner/cascade/run.ts';
import type { LearnerState } from '../../runner/engine/learner/learner.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { means } from './means.ts';
import { noWaiting, tinyDatasets, tinyPolicy } from './tiny-policy.ts';

export interface Snapshot {
  readonly point: Point;
  readonly kind: PointKind;
  readonly carried: Carried;
  readonly state: LearnerState;
}

export interface RecordedRun {
  readonly entries: Entry[];
  readonly samples: SampleLine[];
  readonly snapshots: Snapshot[];
  readonly final: LearnerState;
}

const copyOf = ({ weights, firstMoment, secondMoment, stepCount }: LearnerState): LearnerState => ({
  weights: weights.slice(),
  firstMoment: firstMoment.slice(),
  secondMoment: secondMoment.slice(),
  stepCount,
});

export interface RecordOptions {
  readonly from?: Snapshot | undefined;
  /** Of the learner, before the run. */
  readonly spoil?: (state: LearnerState) => void;
  readonly data?: Datasets;
}

export async function recordedRun(
  runtime: Runtime,
  spec: ExpandedSpec,
  { from, spoil = () => undefined, data = tinyDatasets }: RecordOptions = {},
): Promise<RecordedRun> {
  const policy = await tinyPolicy(runtime);
  const entries: Entry[] = [];
  const samples: SampleLine[] = [];
  const snapshots: Snapshot[] = [];
  const host: Host = {
    clock: noWaiting,
    alive: () => undefined,
    pauseAsked: () => false,
    emit: (entry) => void entries.push(entry),
    progress: () => undefined,
    samples: async (lines) => void samples.push(...lines),
    snapshot: async (point, kind, carried) =>
      void snapshots.push({
        point,
        kind,
        carried: structuredClone(carried),
        state: copyOf(await policy.learner.state()),
      }),
  };
  try {
    if (from !== undefined) await policy.learner.restore(from.state);
    spoil(await policy.learner.state());
    await runCascade(spec, policy, data, means, host, from && { ...from.point, ...from });
    return { entries, samples, snapshots, final: copyOf(await policy.learner.state()) };
  } finally {
    policy[Symbol.dispose]();
  }
}

/** Wall-clock figures differ from run to run; everything else must not. */
const withoutTimes = (entry: Entry): Entry =>
  entry.type === 'step' || entry.type === 'step_skipped'
    ? {
        ...entry,
        metrics: Object.fromEntries(
          Object.entries(entry.metrics).filter(([key]) => !/^time_|tokens_per_s/.test(key)),
        ),
      }
    : entry;

/** A resumed stage says again that it started, and how it cuts its batches. */
export const comparable = (entries: readonly Entry[]): Entry[] =>
  entries.filter(({ type }) => type !== 'stage_started' && type !== 'micro_batches').map(withoutTimes);
