// A cascade run in this process on the tiny policy, with all that it says and keeps: what resumed runs are compared by.
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import type { SampleLine } from '../../api/contract/results.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import type { Datasets } from '../../runner/cascade/host.ts';
import type { LearnerState } from '../../runner/engine/learner/learner.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { withoutClock } from './clock-metrics.ts';
import { means } from './means.ts';
import { copyOfState, recordingHost } from './recording-host.ts';
import type { Snapshot } from './recording-host.ts';
import { tinyDatasets, tinyPolicy } from './tiny-policy.ts';
import { tinyTeachers } from './tiny-teachers.ts';
import type { TinyTeachers } from './tiny-teachers.ts';

export interface RecordedRun {
  readonly entries: Entry[];
  readonly samples: SampleLine[];
  readonly snapshots: Snapshot[];
  readonly final: LearnerState;
}

export interface RecordOptions {
  readonly from?: Snapshot | undefined;
  /** Of the learner, before the run. */
  readonly spoil?: (state: LearnerState) => void;
  readonly data?: Datasets;
  /** Beside the ends of stages that the run itself comes to. */
  readonly teachers?: Partial<TinyTeachers>;
}

export async function recordedRun(
  runtime: Runtime,
  spec: ExpandedSpec,
  { from, spoil = () => undefined, data = tinyDatasets, teachers }: RecordOptions = {},
): Promise<RecordedRun> {
  const policy = await tinyPolicy(runtime);
  const recording = recordingHost(policy.learner);
  const ends = () => [...(teachers?.ends?.() ?? []), ...recording.snapshots];
  const host = {
    ...recording,
    teachers: tinyTeachers(runtime, policy.learner, spec, { ...teachers, ends }),
  };
  try {
    if (from !== undefined) await policy.learner.restore(from.state);
    spoil(await policy.learner.state());
    await runCascade(spec, policy, data, means, host, from && { ...from.point, ...from });
    const { entries, kept, snapshots } = host;
    return { entries, samples: kept, snapshots, final: copyOfState(await policy.learner.state()) };
  } finally {
    policy[Symbol.dispose]();
  }
}

/** Wall-clock figures differ from run to run; everything else must not. */
const withoutTimes = (entry: Entry): Entry =>
  entry.type === 'step' || entry.type === 'step_skipped'
    ? { ...entry, metrics: withoutClock(entry.metrics) }
    : entry;

/** A resumed stage says again that it started, and how it cuts its batches. */
export const comparable = (entries: readonly Entry[]): Entry[] =>
  entries.filter(({ type }) => type !== 'stage_started' && type !== 'micro_batches').map(withoutTimes);
