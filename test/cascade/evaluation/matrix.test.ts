// The matrix and its gates in a cascade on a real, tiny model: every measure, within stages and at their ends; that a gate decides
// alike wherever a run is resumed, pauses it once, and is passed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Entry, EvaluationCell } from '../../../api/contract/event.ts';
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import { expandedSpec } from '../../../api/contract/expand.ts';
import { GateFailed } from '../../../runner/cascade/evaluation/gates.ts';
import { RewardUnavailable } from '../../../runner/cascade/outage.ts';
import type { Clock } from '../../../runner/cascade/outage.ts';
import type { Carried } from '../../../runner/cascade/point.ts';
import { runCascade } from '../../../runner/cascade/run.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import type { Means } from '../../../runner/rewards/means.ts';
import { means } from '../../support/means.ts';
import { recordingHost } from '../../support/recording-host.ts';
import type { Snapshot } from '../../support/recording-host.ts';
import { tinyData, tinyDatasets, tinyPolicy, tinyRows, tinySpec } from '../../support/tiny-policy.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

interface Run {
  readonly entries: Entry[];
  readonly snapshots: Snapshot[];
  /** What ended it early. */
  readonly error?: unknown;
}

interface RunOptions {
  readonly from?: Snapshot | undefined;
  readonly passedGates?: readonly number[];
  readonly means?: Means;
}

/** Whoever waits has waited. */
function swiftClock(): Clock {
  let now = 0;
  return { now: () => now, wait: (ms) => Promise.resolve(void (now += ms)) };
}

async function run(
  spec: ExpandedSpec,
  { from, passedGates, means: given = means }: RunOptions = {},
): Promise<Run> {
  const policy = await tinyPolicy(runtime);
  const host = { ...recordingHost(policy.learner), clock: swiftClock() };
  const { entries, snapshots } = host;
  // As it goes through a file: nothing but JSON is carried.
  const carried = from && (JSON.parse(JSON.stringify(from.carried)) as Carried);
  const resumed = from && carried && { ...from.point, ...from, carried, ...(passedGates && { passedGates }) };
  try {
    if (from !== undefined) await policy.learner.restore(from.state);
    await runCascade(spec, policy, tinyDatasets, given, host, resumed);
    return { entries, snapshots };
  } catch (error) {
    return { entries, snapshots, error };
  } finally {
    policy[Symbol.dispose]();
  }
}

type Of<Type extends Entry['type']> = Extract<Entry, { type: Type }>;
const ofType = <Type extends Entry['type']>({ entries }: Run, type: Type) =>
  entries.filter((entry): entry is Of<Type> => entry.type === type);

const sums = tinySpec().evaluate.suites[0]!;
const held = { name: 'held', measure: 'loss', domain: 'math', data: tinyData.sft };

/** The tiny cascade with other suites, gates and evaluations. */
function specOf(change: {
  suites?: readonly object[];
  gates?: readonly object[];
  every_steps?: number;
  rewards?: object;
  math?: Record<string, unknown>;
}): ExpandedSpec {
  const { suites = [sums, held], gates = [], every_steps, rewards = {}, math = {} } = change;
  return expandedSpec.parse({
    ...tinySpec({ sftSteps: 8, mathSteps: 4, math }),
    evaluate: { after: 'stage', suites, ...(every_steps && { every_steps }) },
    gates,
    rewards,
  });
}

const named = (cells: readonly EvaluationCell[]) =>
  Object.fromEntries(cells.map((cell) => [`${cell.suite}.${cell.mode}.${cell.metric}`, cell]));

describe('the matrix', () => {
  it('holds every metric of every suite at every point, with the values of tasks', async () => {
    const passing = { ...sums, name: 'often', k: 4, pass_at: [1, 4] };
    const { entries } = await run(specOf({ suites: [passing, held] }));
    const evaluations = ofType({ entries, snapshots: [] }, 'evaluation');
    expect(evaluations.map(({ after, step }) => [after, step])).toEqual([
      ['initial', null],
      ['sft', null],
      ['math', null],
    ]);
    for (const { cells } of evaluations) {
      const of = named(cells);
      expect(Object.keys(of)).toEqual([
        'often.non_thinking.avg@4',
        'often.non_thinking.pass@1',
        'often.non_thinking.pass@4',
        'held.non_thinking.loss',
      ]);
      expect(of['often.non_thinking.pass@4']!.value).toBeGreaterThanOrEqual(
        of['often.non_thinking.pass@1']!.value,
      );
      expect(of['held.non_thinking.loss']).toMatchObject({ tasks: tinyRows.sft.length });
      for (const { values, value, low, high, tasks } of cells) {
        expect(values).toHaveLength(tasks);
        expect(values!.reduce<number>((total, one) => total + one!, 0) / tasks).toBeCloseTo(value, 9);
        expect(low).toBeLessThan(value + 1e-12);
        expect(high).toBeGreaterThan(value - 1e-12);
      }
    }
    const losses = evaluations.map(({ cells }) => named(cells)['held.non_thinking.loss']!.value);
    // Random weights know nothing of 16 characters: log 17 with the end token; sft teaches it.
    expect(losses[0]!).toBeCloseTo(Math.log(17), 0);
    expect(losses[1]!).toBeLessThan(losses[0]! - 0.5);
  });

  it('draws the same for a suite whatever its modes and their order', async () => {
    const asking = specOf({});
    const inModes = async (modes: readonly ('thinking' | 'non_thinking')[]) => {
      const spec = specOf({ suites: [{ ...sums, modes }] });
      const model = { ...asking.model, thinking_control: 'flags' } as const;
      const outcome = await run({ ...spec, model, stages: [] });
      return ofType(outcome, 'evaluation')[0]!.cells;
    };
    const both = await inModes(['thinking', 'non_thinking']);
    expect(both.map(({ mode }) => mode)).toEqual(['thinking', 'non_thinking']);
    expect(await inModes(['non_thinking', 'thinking'])).toEqual([...both].reverse());
    expect([await inModes(['thinking']), await inModes(['non_thinking'])].flat()).toEqual(both);
  });

  it('is that of the model as it is where there is no stage, and keeps nothing', async () => {
    const { entries, snapshots } = await run({ ...specOf({}), type: 'evaluate', stages: [] });
    expect(entries).toMatchObject([{ type: 'evaluation', after: 'initial', step: null }]);
    expect(snapshots).toEqual([]);
  });

  it('is told within stages where the spec wants it, and again with the same numbers after a resume', async () => {
    const spec = specOf({ every_steps: 2 });
    const whole = await run(spec);
    const told = ofType(whole, 'evaluation');
    expect(told.map(({ after, step }) => [after, step])).toEqual([
      ['initial', null],
      ...[2, 4, 6].map((step) => ['sft', step]),
      ['sft', null],
      ['math', 2],
      ['math', null],
    ]);
    const from = whole.snapshots.find(({ point, kind }) => kind === 'step' && point.step === 4)!;
    const resumed = ofType(await run(spec, { from }), 'evaluation');
    expect(resumed).toEqual(told.slice(2));
  });

  it('pauses where graders stay away within a stage, with what has been learnt kept', async () => {
    const model = `ckpt_${'r'.repeat(26)}`;
    let scores = 0;
    // The evaluation of the initial model takes 20 scores; that after step 3 finds nobody.
    const failing: Means = {
      ...means,
      rewardModels: new Map([
        [
          model,
          (items) => Promise.resolve(items.map(() => (++scores > 20 ? { fault: 'away' } : { value: 1 }))),
        ],
      ]),
    };
    const suites = [{ ...sums, grader: { type: 'preference', model } }];
    const spec = specOf({ suites, every_steps: 3, rewards: { timeout: '3s' } });
    const outcome = await run(spec, { means: failing });
    expect(outcome.error).toBeInstanceOf(RewardUnavailable);
    expect((outcome.error as Error).message).toMatch(
      /^suite sums in stage sft after step 3: for 3s .* 20 of 20 answers/,
    );
    expect(outcome.snapshots.map(({ point, kind }) => [point.stageIndex, point.step, kind])).toEqual([
      [0, 3, 'step'],
    ]);
    // Resumed with the grader back, it evaluates there first.
    scores = -1_000;
    const resumed = await run(spec, { means: failing, from: outcome.snapshots[0]! });
    expect(ofType(resumed, 'evaluation')[0]).toMatchObject({ after: 'sft', step: 3 });
    expect(resumed.error).toBeUndefined();
  });
});

describe('gates', () => {
  const improves = { after: 'sft', require: { metric: 'held.non_thinking.loss', drop_at_most: 0 } };
  /** Four steps at a rate that breaks the model. */
  const broken = { lr: 1 };
  const worse = (otherwise: string) => ({
    after: 'math',
    require: { metric: 'held.non_thinking.loss', drop_at_most: 0.1, since: 'sft' },
    otherwise,
  });

  it('hold where nothing became worse, and tell what they saw', async () => {
    const outcome = await run(specOf({ gates: [improves] }));
    expect(outcome.error).toBeUndefined();
    const [gate, ...more] = ofType(outcome, 'gate');
    expect(more).toEqual([]);
    expect(gate).toMatchObject({ gate: 0, after: 'sft', limit: 0, result: 'held' });
    const [initial, sft] = ofType(outcome, 'evaluation').map(
      ({ cells }) => named(cells)['held.non_thinking.loss']!.value,
    );
    expect(gate!.value).toBeCloseTo(sft! - initial!, 9);
    expect(gate!.high).toBeLessThan(0);
  });

  it('fire where the whole interval is beyond the limit, after the checkpoint and the evaluation', async () => {
    const outcome = await run(specOf({ gates: [improves, worse('pause')], math: broken }));
    expect(outcome.error).toBeInstanceOf(GateFailed);
    expect(outcome.error).toMatchObject({ gate: 1 });
    expect((outcome.error as Error).message).toMatch(
      /^gate 1 after math: held\.non_thinking\.loss is worse by \d+\.\d{4} \(\d+\.\d{4} to \d+\.\d{4} at 95 %, 40 tasks\) than after sft, more than drop_at_most 0\.1\. To go on all the same, resume the job/,
    );
    expect(outcome.entries.slice(-3).map((entry) => entry.type)).toEqual([
      'stage_finished',
      'evaluation',
      'gate',
    ]);
    expect(outcome.entries.at(-1)).toMatchObject({ gate: 1, result: 'fired' });
    expect(outcome.snapshots.at(-1)).toMatchObject({ kind: 'final', point: { stageIndex: 1, step: 4 } });
  });

  it('decide alike from whatever checkpoint the run is resumed, and are passed where somebody has said so', async () => {
    const spec = specOf({ gates: [improves, worse('pause')], math: broken });
    const whole = await run(spec);
    const fired = whole.entries.slice(-2);
    for (const from of whole.snapshots) {
      const resumed = await run(spec, { from });
      expect(resumed.error).toMatchObject({ name: 'GateFailed', message: (whole.error as Error).message });
      expect(resumed.entries.slice(-2)).toEqual(fired);
      // Not the gate of a stage that is over, unless its end is where the run goes on.
      const looks = ofType(resumed, 'gate').map(({ gate }) => gate);
      expect(looks).toEqual(from.point.stageIndex === 0 ? [0, 1] : [1]);
    }
    const passed = await run(spec, { from: whole.snapshots.at(-1)!, passedGates: [1] });
    expect(passed.error).toBeUndefined();
    expect(passed.entries).toEqual([fired[0], { ...fired[1], result: 'passed' }]);
  });

  it('go on to the next stage once passed', async () => {
    const level = {
      after: 'sft',
      require: { metric: 'sums.non_thinking.avg@2', at_least: 0.999 },
      otherwise: 'pause',
    };
    const spec = specOf({ gates: [level] });
    const first = await run(spec);
    expect(first.error).toMatchObject({
      gate: 0,
      message: expect.stringMatching(
        /^gate 0 after sft: sums\.non_thinking\.avg@2 is 0\.\d+ .*, less than at_least 0\.999\./,
      ),
    });
    const end = first.snapshots.at(-1)!;
    expect(end.kind).toBe('stage_end');
    const second = await run(spec, { from: end, passedGates: [0] });
    expect(second.error).toBeUndefined();
    expect(ofType(second, 'gate').map(({ result }) => result)).toEqual(['passed']);
    expect(ofType(second, 'stage_finished').map(({ stage }) => stage)).toEqual(['math']);
  });

  it('that fail the job come before gates that would pause it', async () => {
    const outcome = await run(specOf({ gates: [worse('pause'), worse('fail')], math: broken }));
    expect(outcome.error).toMatchObject({ gate: 1, message: expect.stringContaining('the job fails then') });
    expect(ofType(outcome, 'gate').map(({ result }) => result)).toEqual(['fired', 'fired']);
  });

  it('turn for a loss: at_least is at most', async () => {
    const gates = [
      { after: 'sft', require: { metric: 'held.non_thinking.loss', at_least: 100 } },
      { after: 'sft', require: { metric: 'held.non_thinking.loss', at_least: 0.01 } },
    ];
    const outcome = await run(specOf({ gates }));
    expect(ofType(outcome, 'gate').map(({ result }) => result)).toEqual(['held', 'fired']);
    expect((outcome.error as Error).message).toMatch(/, more than at most 0\.01\./);
  });

  it('do not fire on noise: of a drop that some tasks show and others do not', async () => {
    // The limit lies inside the interval of the drop.
    const probe = await run(specOf({ gates: [worse('pause')], math: broken }));
    const { value, low, high } = ofType(probe, 'gate')[0]!;
    expect(low).toBeLessThan(value);
    const gate = worse('pause');
    for (const [drop_at_most, result] of [
      [low - 1e-6, 'fired'],
      [low + 1e-6, 'held'],
      [(low + high) / 2, 'held'],
    ] as const) {
      const spec = specOf({ gates: [{ ...gate, require: { ...gate.require, drop_at_most } }], math: broken });
      expect(ofType(await run(spec, { from: probe.snapshots.at(-1)! }), 'gate')[0]).toMatchObject({ result });
    }
  });
});
