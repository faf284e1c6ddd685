// Stages that repair others, in a cascade on a real, tiny model: they run where a gate asks for them and are left out elsewhere, the
// gate looks again at what they made, and a run decides alike from whatever checkpoint it is resumed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { expandedSpec } from '../../api/contract/expand.ts';
import { GateFailed } from '../../runner/cascade/evaluation/gates.ts';
import type { Datasets } from '../../runner/cascade/host.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { means } from '../support/means.ts';
import { comparable } from '../support/recorded-run.ts';
import { copyOfState, recordingHost } from '../support/recording-host.ts';
import type { Snapshot } from '../support/recording-host.ts';
import { distillDomain } from '../support/tiny-distill.ts';
import { tinyData, tinyDatasets, tinyPolicy, tinyRows, tinySpec } from '../support/tiny-policy.ts';
import { tinyTeachers } from '../support/tiny-teachers.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

const wrong = `ds_${'w'.repeat(24)}`;
/** The same sums with answers that are none. */
const wrongRows = tinyRows.sft.map(({ messages: [question] }) => ({
  messages: [question!, { role: 'assistant' as const, content: ':,' }],
}));
const data: Datasets = { ...tinyDatasets, sft: (id) => (id === wrong ? wrongRows : tinyRows.sft) };

interface Options {
  /** How much worse the loss on sums may be than after sft; a list of gates in place of one. */
  readonly gates: readonly object[];
  /** Stages after the repair. */
  readonly last?: boolean;
}

const limited = (drop_at_most: number, otherwise = 'distill') => ({
  after: 'forget',
  require: { metric: 'held.non_thinking.loss', drop_at_most, since: 'sft' },
  otherwise,
});

/** Learns sums, forgets them and, where a gate says so, has them back from itself as it was; then a stage of rewards. */
function specOf({ gates, last = false }: Options): ExpandedSpec {
  const spec = tinySpec({ sftSteps: 12, mathSteps: 2, everySteps: 4 });
  const [sft, math] = spec.stages as [object, object];
  const repair = {
    ...{ kind: 'distill', name: 'repair-forget', domain: 'distill', repairs: 'forget', steps: 12 },
    ...{ lr: 5e-3, warmup_steps: 0, prompts_per_step: 8, rollouts: 4, max_response: 4 },
    domains: [distillDomain({ domain: 'math', teacher: 'stage:sft' })],
  };
  const forget = { ...sft, name: 'forget', data: wrong, steps: 5 };
  return expandedSpec.parse({
    ...spec,
    stages: [sft, forget, repair, ...(last ? [] : [math])],
    evaluate: {
      after: 'stage',
      suites: [{ name: 'held', measure: 'loss', domain: 'math', data: tinyData.sft }],
    },
    gates,
  });
}

interface Run {
  readonly entries: Entry[];
  readonly snapshots: Snapshot[];
  readonly weights: Float32Array;
  /** What ended it early. */
  readonly error?: unknown;
}

async function run(
  spec: ExpandedSpec,
  { whole, from, passedGates }: { whole?: Run; from?: Snapshot; passedGates?: readonly number[] } = {},
): Promise<Run> {
  const policy = await tinyPolicy(runtime);
  const recording = recordingHost(policy.learner);
  const ends = () => [...(whole?.snapshots ?? []), ...recording.snapshots];
  const host = { ...recording, teachers: tinyTeachers(runtime, policy.learner, spec, { ends }) };
  const resumed = from && { ...from.point, ...from, ...(passedGates && { passedGates }) };
  let error: unknown;
  try {
    if (from !== undefined) await policy.learner.restore(from.state);
    await runCascade(spec, policy, data, means, host, resumed).catch((cause: unknown) => (error = cause));
    const { weights } = copyOfState(await policy.learner.state());
    return { entries: host.entries, snapshots: host.snapshots, weights, error };
  } finally {
    policy[Symbol.dispose]();
  }
}

type Of<Type extends Entry['type']> = Extract<Entry, { type: Type }>;
const ofType = <Type extends Entry['type']>({ entries }: Pick<Run, 'entries'>, type: Type) =>
  entries.filter((entry): entry is Of<Type> => entry.type === type);

/** Stages and looks of gates, in order. */
const story = (outcome: Run): string[] =>
  outcome.entries.flatMap((entry) => {
    if (entry.type === 'stage_finished') return [entry.stage];
    if (entry.type === 'stage_skipped') return [`no ${entry.stage}`];
    return entry.type === 'gate' ? [`gate ${entry.gate} after ${entry.after} ${entry.result}`] : [];
  });

/** The gate that always fires: what it sees before the repair and after. */
let looks: readonly Of<'gate'>[];
let never: Run;
beforeAll(async () => {
  never = await run(specOf({ gates: [limited(0)] }));
  looks = ofType(never, 'gate');
});
/** What the repair makes good, and more. */
const repairable = (): object => limited((looks[0]!.low + looks[1]!.low) / 2);

/** The same end, the same entries from there on, from each of its checkpoints. */
async function expectSameFromEverywhere(spec: ExpandedSpec, whole: Run): Promise<void> {
  for (const from of whole.snapshots) {
    const resumed = await run(spec, { whole, from });
    const at = `${from.point.stageIndex} ${from.point.step} ${from.kind}`;
    expect((resumed.error as Error | undefined)?.message, at).toBe(
      (whole.error as Error | undefined)?.message,
    );
    expect(resumed.weights, at).toEqual(whole.weights);
    const said = comparable(resumed.entries);
    expect(said, at).toEqual(comparable(whole.entries).slice(-said.length));
  }
}

describe('a gate that distils', () => {
  it('fires, the repair makes good what it can, and where that is not enough the gate ends the run', async () => {
    expect(never.error).toBeInstanceOf(GateFailed);
    expect(never.error).toMatchObject({
      gate: 0,
      message: expect.stringMatching(
        /^gate 0 after repair-forget: held\.non_thinking\.loss is worse by .* than after sft, more than drop_at_most 0\. The repair was not enough\. To go on all the same, resume the job/,
      ) as unknown,
    });
    expect(story(never)).toEqual([
      'sft',
      'forget',
      'gate 0 after forget fired',
      'repair-forget',
      'gate 0 after repair-forget fired',
    ]);
    expect(looks[1]!.high).toBeLessThan(looks[0]!.low);
    expect(never.snapshots.at(-1)).toMatchObject({ kind: 'stage_end', point: { stageIndex: 2, step: 12 } });
    await expectSameFromEverywhere(specOf({ gates: [limited(0)] }), never);
  });

  it('is passed at the end of the repair by whoever resumes the job', async () => {
    const spec = specOf({ gates: [limited(0)] });
    const passed = await run(spec, { whole: never, from: never.snapshots.at(-1)!, passedGates: [0] });
    expect(passed.error).toBeUndefined();
    expect(story(passed)).toEqual(['gate 0 after repair-forget passed', 'math']);
  });

  it('lets the run go on once repaired, alike from every checkpoint', async () => {
    const spec = specOf({ gates: [repairable()] });
    const whole = await run(spec);
    expect(whole.error).toBeUndefined();
    expect(story(whole)).toEqual([
      'sft',
      'forget',
      'gate 0 after forget fired',
      'repair-forget',
      'gate 0 after repair-forget held',
      'math',
    ]);
    await expectSameFromEverywhere(spec, whole);
  });

  it('that holds leaves the repair out, alike from every checkpoint', async () => {
    const spec = specOf({ gates: [limited(100)] });
    const whole = await run(spec);
    expect(whole.error).toBeUndefined();
    expect(story(whole)).toEqual(['sft', 'forget', 'gate 0 after forget held', 'no repair-forget', 'math']);
    expect(ofType(whole, 'stage_skipped')).toEqual([
      {
        ...{ type: 'stage_skipped', stage: 'repair-forget', stage_index: 2 },
        cause: 'no gate after forget asks for it',
      },
    ]);
    expect(ofType(whole, 'evaluation').map(({ after }) => after)).toEqual([
      'initial',
      'sft',
      'forget',
      'math',
    ]);
    expect(whole.snapshots.some(({ point }) => point.stageIndex === 2)).toBe(false);
    expect(whole.snapshots.at(-1)).toMatchObject({ kind: 'final', point: { stageIndex: 3, step: 2 } });
    await expectSameFromEverywhere(spec, whole);
  });

  it('ends the run with the stage before, where the repair that is left out is the last', async () => {
    const spec = specOf({ gates: [limited(100)], last: true });
    const whole = await run(spec);
    expect(whole.error).toBeUndefined();
    expect(whole.snapshots.at(-1)).toMatchObject({ kind: 'stage_end', point: { stageIndex: 1, step: 5 } });
    await expectSameFromEverywhere(spec, whole);
  });
});

describe('gates beside one that distils', () => {
  it('come first: one that pauses does so before the repair, which follows once it is passed', async () => {
    const spec = specOf({ gates: [limited(0, 'pause'), repairable()] });
    const paused = await run(spec);
    expect(paused.error).toMatchObject({ gate: 0 });
    expect(story(paused)).toEqual([
      ...['sft', 'forget', 'gate 0 after forget fired', 'gate 1 after forget fired'],
    ]);
    const from = paused.snapshots.at(-1)!;
    const resumed = await run(spec, { whole: paused, from, passedGates: [0] });
    expect(resumed.error).toBeUndefined();
    expect(story(resumed)).toEqual([
      ...['gate 0 after forget passed', 'gate 1 after forget fired', 'repair-forget'],
      ...['gate 0 after repair-forget passed', 'gate 1 after repair-forget held', 'math'],
    ]);
  });

  it('that fail the job do so before anything is repaired, and look at what the repair has made', async () => {
    const failed = await run(specOf({ gates: [limited(0), limited(0, 'fail')] }));
    expect(failed.error).toMatchObject({
      gate: 1,
      message: expect.stringContaining('the job fails') as unknown,
    });
    expect(story(failed).at(-1)).toBe('gate 1 after forget fired');
    // Of a loss that is the most.
    const better = { ...limited(0, 'fail'), require: { metric: 'held.non_thinking.loss', at_least: 100 } };
    const held = await run(specOf({ gates: [better, repairable()] }));
    expect(story(held).filter((line) => line.startsWith('gate 0'))).toEqual([
      'gate 0 after forget held',
      'gate 0 after repair-forget held',
    ]);
  });
});
