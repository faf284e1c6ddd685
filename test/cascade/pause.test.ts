// Pauses of a real, tiny cascade at every kind of moment: what is kept, and that the run goes on from it, with a policy of its own,
// to the same bits and the same matrix as one that nobody paused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { Paused } from '../../runner/cascade/point.ts';
import type { PointKind } from '../../runner/cascade/point.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import type { LearnerState } from '../../runner/engine/learner/learner.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { means } from '../support/means.ts';
import { copyOfState, recordingHost } from '../support/recording-host.ts';
import type { Snapshot } from '../support/recording-host.ts';
import { tinyDatasets, tinyPolicy, tinySpec } from '../support/tiny-policy.ts';

interface Part {
  readonly entries: readonly Entry[];
  readonly snapshots: readonly Snapshot[];
  readonly paused: string | undefined;
  readonly final: LearnerState;
}

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

/** One attempt; `isAsked` is asked about all that it has said so far. */
async function attempt(
  spec: ExpandedSpec,
  isAsked: (entries: readonly Entry[]) => boolean,
  from?: Snapshot,
): Promise<Part> {
  const policy = await tinyPolicy(runtime);
  const recording = recordingHost(policy.learner);
  const { entries, snapshots } = recording;
  const host = { ...recording, pauseAsked: () => isAsked(entries) };
  try {
    if (from !== undefined) await policy.learner.restore(from.state);
    const paused = await runCascade(
      spec,
      policy,
      tinyDatasets,
      means,
      host,
      from && { ...from.point, ...from },
    )
      .then(() => undefined)
      .catch((error: unknown) => {
        if (error instanceof Paused) return error.message;
        throw error;
      });
    return { entries, snapshots, paused, final: copyOfState(await policy.learner.state()) };
  } finally {
    policy[Symbol.dispose]();
  }
}

/** Two suites at every evaluation, evaluations within stages too. */
function spec(): ExpandedSpec {
  const tiny = tinySpec({ sftSteps: 6, mathSteps: 4, everySteps: 4 });
  const [suite] = tiny.evaluate.suites;
  return {
    ...tiny,
    evaluate: { ...tiny.evaluate, every_steps: 3, suites: [suite!, { ...suite!, name: 'again' }] },
  };
}

const never = (): boolean => false;
/** A step without an update is one, too. */
const isStep = (entry: Entry) => entry.type === 'step' || entry.type === 'step_skipped';
const hasStep = (stage: string, step: number) => (entries: readonly Entry[]) =>
  entries.some((entry) => isStep(entry) && entry.stage === stage && entry.step >= step);
/** True from the n-th question on after `isDone`: the first is before the step or suite that comes next. */
function atQuestion(number: number, isDone: (entries: readonly Entry[]) => boolean) {
  let asked = 0;
  return (entries: readonly Entry[]): boolean => isDone(entries) && ++asked >= number;
}

const matrixOf = (parts: readonly Part[]) =>
  new Map(
    parts.flatMap(({ entries }) =>
      entries.flatMap((entry) =>
        entry.type === 'evaluation' ? [[`${entry.after} ${entry.step}`, entry.cells]] : [],
      ),
    ),
  );

const stepsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap(({ entries }) =>
    entries.flatMap((entry) => (isStep(entry) ? [`${entry.type} ${entry.stage} ${entry.step}`] : [])),
  );

describe('a pause', () => {
  let undisturbed: Part;
  beforeAll(async () => void (undisturbed = await attempt(spec(), never)));

  it.each<[string, (entries: readonly Entry[]) => boolean, string, [number, number, PointKind] | undefined]>([
    ['before anything', () => true, 'paused before suite sums, evaluated after initial', undefined],
    ['after a step', hasStep('sft', 2), 'paused after step 2 of stage sft', [0, 2, 'step']],
    [
      'after a step that is kept anyway',
      hasStep('sft', 4),
      'paused after step 4 of stage sft',
      [0, 4, 'step'],
    ],
    [
      'in an evaluation within a stage',
      atQuestion(3, hasStep('sft', 3)),
      'paused before suite again, evaluated after sft',
      [0, 3, 'step'],
    ],
    [
      'in the evaluation at the end of a stage',
      atQuestion(2, hasStep('sft', 6)),
      'paused before suite again, evaluated after sft',
      [0, 6, 'stage_end'],
    ],
    [
      'between two stages',
      atQuestion(3, hasStep('sft', 6)),
      'paused after step 0 of stage math',
      [0, 6, 'stage_end'],
    ],
    ['in a stage of reinforcement', hasStep('math', 1), 'paused after step 1 of stage math', [1, 1, 'step']],
    [
      'in the last evaluation',
      atQuestion(2, hasStep('math', 4)),
      'paused before suite again, evaluated after math',
      [1, 4, 'final'],
    ],
  ])('%s', async (_, isAsked, where, kept) => {
    const first = await attempt(spec(), isAsked);
    expect(first.paused).toBe(where);
    const from = first.snapshots.at(-1);
    expect(from && [from.point.stageIndex, from.point.step, from.kind]).toEqual(kept);
    const second = await attempt(spec(), never, from);
    expect(second.paused).toBeUndefined();
    expect(second.final).toEqual(undisturbed.final);
    expect(stepsOf([first, second])).toEqual(stepsOf([undisturbed]));
    expect(matrixOf([first, second])).toEqual(matrixOf([undisturbed]));
    expect(second.snapshots.at(-1) ?? from).toEqual(undisturbed.snapshots.at(-1));
  });

  it('asked for again at once keeps nothing twice', async () => {
    const first = await attempt(spec(), hasStep('sft', 2));
    const second = await attempt(spec(), () => true, first.snapshots.at(-1));
    expect(second).toMatchObject({ paused: 'paused after step 2 of stage sft', snapshots: [] });
  });
});
