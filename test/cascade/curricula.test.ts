// RL stages with modes, phases, filters and several domains, on a real, tiny model: exact halves in every recorded batch, the same
// bits when resumed in the middle of an epoch, and ends with a reason where tasks run out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import { expandedSpec } from '../../api/contract/expand.ts';
import type { ExpandedReinforcedStage, ExpandedSpec } from '../../api/contract/expand.ts';
import { RewardUnavailable } from '../../runner/cascade/outage.ts';
import type { OutagePolicy } from '../../runner/cascade/outage.ts';
import { reinforcedStage } from '../../runner/cascade/rl/stage.ts';
import type { Datasets } from '../../runner/cascade/host.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { comparable, recordedRun } from '../support/recorded-run.ts';
import type { RecordedRun, RecordOptions } from '../support/recorded-run.ts';
import { means } from '../support/means.ts';
import { noOutage, tinyData, tinyPolicy, tinyRows, tinySpec } from '../support/tiny-policy.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

const codeData = `ds_${'c'.repeat(24)}`;
/** Epochs of six tasks, of one and a half batches; `code` has four. */
const data: Datasets = {
  sft: () => tinyRows.sft,
  tasks: (id) => (id === tinyData.math ? tinyRows.math.slice(0, 6) : tinyRows.math.slice(6, 10)),
};
const record = (spec: ExpandedSpec, options: Omit<RecordOptions, 'data'> = {}): Promise<RecordedRun> =>
  recordedRun(runtime, spec, { ...options, data });

/** A short sft stage, then an RL stage with `math` over its defaults, its samples all kept. */
function specWith(math: Record<string, unknown>, steps = 5, sftSteps = 8): ExpandedSpec {
  const spec = tinySpec({ sftSteps, mathSteps: steps, everySteps: 1, math });
  return {
    ...spec,
    model: { ...spec.model, thinking_control: 'flags' },
    evaluate: { ...spec.evaluate, suites: [] },
    samples: { ...spec.samples, per_step: 1000 },
  };
}

function multiDomain(): ExpandedSpec {
  const spec = specWith({ prompts_per_step: 8 });
  const { grader: _g, data: _d, language_mixing: _l, ...stage } = spec.stages[1] as Record<string, unknown>;
  const domains = [
    {
      domain: 'math',
      data: tinyData.math,
      grader: { type: 'prefix' },
      weight: 3,
      mode: 'half_half',
      language_mixing: 'off',
    },
    {
      domain: 'code',
      data: codeData,
      grader: { type: 'exact' },
      weight: 1,
      mode: 'thinking',
      language_mixing: 'off',
    },
  ];
  return expandedSpec.parse({
    ...spec,
    stages: [spec.stages[0], { ...stage, kind: 'multi_domain', domains }],
  });
}

type Step = Extract<Entry, { type: 'step' | 'step_skipped' }>;
const stepsOf = ({ entries }: RecordedRun): Step[] =>
  entries.filter(
    (entry): entry is Step =>
      (entry.type === 'step' || entry.type === 'step_skipped') && entry.stage === 'math',
  );
const causeOf = ({ entries }: RecordedRun): unknown =>
  entries.flatMap((entry) =>
    entry.type === 'stage_finished' && entry.stage === 'math' ? [entry.cause] : [],
  )[0];

/** Rollouts of a step in each mode, from the samples. */
const modesAt = ({ samples }: RecordedRun, step: number): Record<string, number> => {
  const own = samples.filter((sample) => sample.step === step);
  const count = (mode: string): number => own.filter((sample) => sample.mode === mode).length;
  return { thinking: count('thinking'), non_thinking: count('non_thinking') };
};

async function expectExactResume(spec: ExpandedSpec): Promise<RecordedRun> {
  const whole = await record(spec);
  const within = whole.snapshots.filter(({ point, kind }) => point.stageIndex === 1 && kind === 'step');
  expect(within.length).toBeGreaterThan(1);
  for (const snapshot of within) {
    // As a checkpoint keeps it: JSON, and the reference beside it.
    const { reference, ...stage } = snapshot.carried.stage;
    const kept = JSON.parse(JSON.stringify({ ...snapshot.carried, stage })) as typeof snapshot.carried;
    const carried = { ...kept, stage: { ...kept.stage, reference } };
    const resumed = await record(spec, { from: { ...snapshot, carried } });
    expect(resumed.final).toEqual(whole.final);
    const said = comparable(resumed.entries);
    expect(comparable(whole.entries).slice(-said.length)).toEqual(said);
    expect(resumed.samples).toEqual(whole.samples.slice(-resumed.samples.length));
  }
  return whole;
}

describe('resumed within an epoch, a stage goes on bit for bit', () => {
  it('with half of every batch in each mode', async () => {
    const whole = await expectExactResume(specWith({ mode: 'half_half' }));
    for (const { step, mode, modes } of stepsOf(whole)) {
      expect(mode).toBe('half_half');
      expect(modesAt(whole, step)).toEqual({ thinking: 8, non_thinking: 8 });
      expect(Object.keys(modes!).sort()).toEqual(['non_thinking', 'thinking']);
    }
  });

  it('with the epoch filter', async () => {
    const filter = { type: 'epoch', readmit_hard: 0.5, readmit_easy: 0.01 };
    const whole = await expectExactResume(specWith({ grader: { type: 'exact' }, filter }, 7));
    const dropped = stepsOf(whole).map(({ metrics }) => metrics['dropped_tasks']!);
    expect(Math.max(...dropped)).toBeGreaterThan(0);
    expect(stepsOf(whole).map(({ metrics }) => metrics['active_tasks']! + metrics['dropped_tasks']!)).toEqual(
      dropped.map(() => 6),
    );
  });

  it('with the batch filter, over rounds', async () => {
    const filter = { type: 'batch', most_rounds: 100 };
    const whole = await expectExactResume(specWith({ mode: 'half_half', filter }));
    const steps = stepsOf(whole);
    expect(Math.max(...steps.map(({ metrics }) => metrics['rounds']!))).toBeGreaterThan(1);
    for (const { step, metrics } of steps) {
      expect(metrics['zero_variance']).toBe(0);
      expect(modesAt(whole, step)).toEqual({ thinking: 8, non_thinking: 8 });
    }
  });

  it('with several domains, each with its own share, halves and figures', async () => {
    const whole = await expectExactResume(multiDomain());
    for (const { step, metrics } of stepsOf(whole)) {
      // Of eight prompts six are of math, three in each mode, and two of code: four rollouts each.
      expect(modesAt(whole, step)).toEqual({ thinking: 12 + 8, non_thinking: 12 });
      const [math, code] = ['math', 'code'].map((domain) => metrics[`${domain}.reward`]!) as [number, number];
      expect((3 * math + code) / 4).toBeCloseTo(metrics['reward']!, 6);
    }
  });

  it('with modes, an epoch filter, phases and a KL penalty together', async () => {
    const filter = { type: 'epoch', readmit_hard: 0.6, readmit_easy: 0.1 };
    const spec = specWith({ mode: 'half_half', kl: 0.5, grader: { type: 'exact' }, filter });
    const phases = [
      { steps: 2, max_response: 2, overlong: 'filter' },
      { steps: 1, temperature: 0.7 },
      { steps: 2, max_response: 5, overlong: 'penalty' },
    ];
    const [sft, { steps: _, ...math }] = spec.stages as Record<string, unknown>[] as [
      object,
      { steps?: number },
    ];
    const whole = await expectExactResume(
      expandedSpec.parse({ ...spec, stages: [sft, { ...math, phases }] }),
    );
    expect(stepsOf(whole).map(({ phase }) => phase)).toEqual([0, 0, 1, 2, 2]);
    for (const { metrics } of stepsOf(whole)) expect(metrics['kl']).toBeGreaterThanOrEqual(0);
  });

  it('with phases, which the events name and whose limits hold', async () => {
    const phases = [
      { steps: 2, max_response: 1, overlong: 'keep' },
      { steps: 3, max_response: 4, temperature: 0.8 },
    ];
    const spec = specWith({ phases, steps: undefined });
    const stages = spec.stages.map((stage) => {
      const { steps: _, ...rest } = stage as Record<string, unknown>;
      return stage.kind === 'sft' ? stage : rest;
    });
    const whole = await expectExactResume(expandedSpec.parse({ ...spec, stages }));
    expect(stepsOf(whole).map(({ phase }) => phase)).toEqual([0, 0, 1, 1, 1]);
    const longest = (phase: number): number =>
      Math.max(
        ...whole.samples.filter(({ step }) => (step > 2 ? 1 : 0) === phase).map(({ tokens }) => tokens),
      );
    expect([longest(0), longest(1)]).toEqual([1, 4]);
  });
});

describe('a stage ends before its last step', () => {
  it('where the epoch filter leaves no task; what was left is trained on', async () => {
    const filter = { type: 'epoch', readmit_hard: 0, readmit_easy: 0 };
    // One token of the likeliest: all rollouts of a task are alike, so the first epoch drops all of them.
    const run = await record(
      specWith({ grader: { type: 'exact' }, filter, temperature: 0.001, max_response: 1 }, 50),
    );
    expect(causeOf(run)).toBe(
      'the epoch filter left no task of math: all were right or all wrong in every rollout',
    );
    // Four, then the last two with two of the second epoch, which knows nothing of these; then these are all.
    expect(stepsOf(run).map(({ step }) => run.samples.filter((one) => one.step === step).length)).toEqual([
      16, 16, 0,
    ]);
    expect(run.snapshots.at(-1)).toMatchObject({ kind: 'final' });
  });

  it('where the batch filter does not find a batch: without a step, where it finds no group', async () => {
    const filter = { type: 'batch', most_rounds: 3 };
    const run = await record(specWith({ mode: 'half_half', filter, temperature: 0.001 }, 50));
    const [step, ...more] = stepsOf(run);
    expect(more).toEqual([]);
    expect(step).toMatchObject({ type: 'step_skipped', metrics: { rounds: 3, accepted: 0 } });
    expect(causeOf(run)).toBe(
      'the batch filter found 0 of 4 groups with mixed outcomes in 3 rounds of sampling',
    );
  });

  it('keeps the groups that a batch filter accepted, equal halves of them', async () => {
    const filter = { type: 'batch', most_rounds: 1 };
    const run = await record(specWith({ mode: 'half_half', filter, prompts_per_step: 16 }, 50));
    const last = stepsOf(run).at(-1)!;
    const { thinking, non_thinking } = modesAt(run, last.step) as { thinking: number; non_thinking: number };
    expect(thinking).toBe(non_thinking);
    expect(thinking).toBeGreaterThan(0);
    expect(thinking + non_thinking).toBeLessThan(64);
    expect(last.type).toBe('step');
    expect(causeOf(run)).toMatch(/^the batch filter found \d+ of 16 groups/);
  });
});

describe('a batch that teaches nothing', () => {
  /** No step changed a weight, and each says why. */
  function expectSkipped(run: RecordedRun, cause: RegExp): void {
    const steps = stepsOf(run);
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps)
      expect(step).toMatchObject({ type: 'step_skipped', cause: expect.stringMatching(cause) });
    const before = run.snapshots.find(({ kind }) => kind === 'stage_end')!;
    expect(run.final.weights).toEqual(before.state.weights);
    expect(run.final.stepCount).toBe(0);
  }

  it('as all groups are alike: no update, and no momentum moves the weights', async () => {
    const run = await record(specWith({ temperature: 0.001 }, 2));
    expectSkipped(run, /any variance/);
    expect(stepsOf(run).map(({ metrics }) => metrics['zero_variance'])).toEqual([1, 1]);
  });

  it.each([
    ['filter', /no rollout of this batch has a token/, null],
    ['zero', /any variance/, 0],
  ] as const)('as all are truncated and the policy is %s', async (overlong, cause, reward) => {
    // One token, drawn nearly evenly: hardly any of them is the end, and graded rewards differ.
    const run = await record(specWith({ max_response: 1, temperature: 10, overlong }, 2));
    const truncated = stepsOf(run).filter(({ metrics }) => metrics['truncated'] === 1);
    expect(truncated.length).toBeGreaterThan(0);
    for (const step of truncated) {
      expect(step).toMatchObject({ type: 'step_skipped', cause: expect.stringMatching(cause) });
      if (reward !== null) expect(step.metrics['reward']).toBe(reward);
    }
  });

  it('as all are unscored, which the filters take for no outcome', async () => {
    const grader = { type: 'code', language: 'javascript' };
    const filter = { type: 'epoch', readmit_hard: 0, readmit_easy: 0 };
    // Taught for long enough to answer with digits: to a grader of code a program, and there is nothing to run it in.
    const spec = specWith({ grader, filter, max_response: 2, temperature: 0.001 }, 4, 40);
    const rewards = { ...spec.rewards, unscored_at_most: 1 };
    const run = await record({ ...spec, rewards });
    for (const { metrics } of stepsOf(run))
      expect(metrics).toMatchObject({ unscored: 1, dropped_groups: 1, dropped_tasks: 0, reward: null });
    expectSkipped(run, /no rollout of this batch has a token/);
  });
});

describe('the state that a checkpoint carries', () => {
  it('is of the step before where rewards stay away: that step took no task', async () => {
    let ms = 0;
    const outage: OutagePolicy = {
      ...noOutage,
      rewards: { unscored_at_most: 0, timeout: '1s', otherwise: 'pause' },
      clock: { now: () => ms, wait: async (wait) => void (ms += wait) },
    };
    const spec = specWith({ grader: { type: 'code', language: 'javascript' } });
    const policy = await tinyPolicy(runtime);
    try {
      const stage = reinforcedStage(policy, spec.stages[1] as ExpandedReinforcedStage, data, {
        ...{ seed: 7, samplesPerStep: 0, means, outage },
      });
      const before = stage.carried!();
      await expect(stage.step(1)).rejects.toBeInstanceOf(RewardUnavailable);
      expect(stage.carried!()).toEqual(before);
    } finally {
      policy[Symbol.dispose]();
    }
  });

  it('is refused by name where it is not the stage’s', async () => {
    const whole = await record(specWith({}, 2));
    const snapshot = whole.snapshots.find(({ point, kind }) => point.stageIndex === 1 && kind === 'step')!;
    const carried = { ...snapshot.carried, stage: { state: { lines: [] } } };
    await expect(record(specWith({}, 2), { from: { ...snapshot, carried } })).rejects.toThrow(
      /trainer\/state\.json: what the stage carried does not fit it: it has 0 lines/,
    );
  });
});
