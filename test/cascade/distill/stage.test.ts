// Stages that distil, on a real, tiny model: what they say, that they go on bit for bit where they were resumed, that teachers opened in
// turn teach what teachers opened at once do, and that a policy learns what its teacher knows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../../../api/contract/event.ts';
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import { TeacherTooFar } from '../../../runner/cascade/distill/distance.ts';
import type { Arena } from '../../../runner/engine/models/parameters.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { comparable, recordedRun } from '../../support/recorded-run.ts';
import type { RecordedRun, RecordOptions } from '../../support/recorded-run.ts';
import { tinyDistillSpec } from '../../support/tiny-distill.ts';
import { tinyData, tinyPolicy, tinyRows } from '../../support/tiny-policy.ts';

let runtime: Runtime;
/** Weights of other models of the tiny policy's shape: as initialised from other seeds. */
let outside: Record<string, Arena>;
beforeAll(async () => {
  runtime = createRuntime();
  outside = {
    '/models/a': await initial(11),
    '/models/b': await initial(12),
    '/models/c': await initial(13),
  };
});
afterAll(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

async function initial(seed: number): Promise<Arena> {
  const policy = await tinyPolicy(runtime, seed);
  try {
    return (await policy.learner.state()).weights.slice();
  } finally {
    policy[Symbol.dispose]();
  }
}

const codeData = `ds_${'c'.repeat(24)}`;
/** Epochs of six tasks, of one and a half batches; `code` has four. */
const data = {
  sft: () => tinyRows.sft,
  tasks: (id: string) =>
    id === tinyData.test
      ? tinyRows.test
      : id === codeData
        ? tinyRows.math.slice(6, 10)
        : tinyRows.math.slice(0, 6),
};
const record = (spec: ExpandedSpec, options: RecordOptions = {}): Promise<RecordedRun> =>
  recordedRun(runtime, spec, { data, ...options, teachers: { outside, ...options.teachers } });

type Step = Extract<Entry, { type: 'step' | 'step_skipped' }>;
const stepsOf = ({ entries }: RecordedRun): Step[] =>
  entries.filter(
    (entry): entry is Step =>
      (entry.type === 'step' || entry.type === 'step_skipped') && entry.stage === 'distill',
  );
const samplesOf = ({ samples }: RecordedRun) => samples.filter(({ stage }) => stage === 'distill');
const said = <Type extends Entry['type']>({ entries }: RecordedRun, type: Type) =>
  entries.filter((entry): entry is Extract<Entry, { type: Type }> => entry.type === type);
/** Where the stage begins. */
const beforeOf = ({ snapshots }: RecordedRun) => snapshots.findLast(({ point }) => point.stageIndex === 1)!;
const withinOf = ({ snapshots }: RecordedRun) =>
  snapshots.filter(({ point, kind }) => point.stageIndex === 2 && kind === 'step');

async function expectExactResume(spec: ExpandedSpec): Promise<RecordedRun> {
  const whole = await record(spec);
  expect(withinOf(whole).length).toBeGreaterThan(1);
  for (const snapshot of [beforeOf(whole), ...withinOf(whole)]) {
    // As a checkpoint keeps it: JSON.
    const carried = JSON.parse(JSON.stringify(snapshot.carried)) as typeof snapshot.carried;
    const resumed = await record(spec, {
      from: { ...snapshot, carried },
      teachers: { ends: () => whole.snapshots },
    });
    expect(resumed.final).toEqual(whole.final);
    const again = comparable(resumed.entries);
    expect(comparable(whole.entries).slice(-again.length)).toEqual(again);
    expect(resumed.samples).toEqual(whole.samples.slice(-resumed.samples.length));
  }
  return whole;
}

const two = [
  { domain: 'math', teacher: { uri: '/models/a' }, weight: 3, mode: 'half_half' },
  { domain: 'code', teacher: { uri: '/models/b' }, data: codeData, mode: 'thinking' },
];

describe('resumed within its stage, distillation goes on bit for bit', () => {
  it('from the best end of a stage so far, as chosen when the stage began', async () => {
    const whole = await expectExactResume(tinyDistillSpec({ mathSteps: 3 }));
    const [chosen, ...more] = said(whole, 'teachers');
    expect(more).toEqual([]);
    const values = said(whole, 'evaluation').map(({ after, cells }) => [after, cells[0]!.value] as const);
    const [, sft, math] = values as [unknown, readonly [string, number], readonly [string, number]];
    const best = sft[1] > math[1] ? sft : math;
    expect(chosen).toMatchObject({
      stage: 'distill',
      teachers: [{ domain: 'math', teacher: `stage:${best[0]}`, score: best[1] }],
    });
  });

  it('keeps the teacher that it chose, whatever its evaluations say later', async () => {
    const whole = await record(tinyDistillSpec());
    const [snapshot] = withinOf(whole) as [ReturnType<typeof beforeOf>];
    const chosen = said(whole, 'teachers')[0]!.teachers.map(({ teacher }) => teacher);
    const evaluations = snapshot.carried.evaluations.map(({ after, cells }) => ({
      after,
      cells: cells.map((cell) => ({ ...cell, value: chosen.includes(`stage:${after}`) ? 0 : 100 })),
    }));
    const opened: string[] = [];
    await record(tinyDistillSpec(), {
      from: { ...snapshot, carried: { ...snapshot.carried, evaluations } },
      teachers: { ends: () => whole.snapshots, opened: (name) => void opened.push(name) },
    });
    expect(opened).toEqual(chosen);
  });

  it('with two teachers in one batch, modes and halves', async () => {
    const whole = await expectExactResume(
      tinyDistillSpec({ domains: two, distill: { prompts_per_step: 8 } }),
    );
    for (const { step, mode, modes, metrics } of stepsOf(whole)) {
      expect(mode).toBe('half_half');
      // Of eight prompts six are of math, three in each mode, and two of code: two answers each.
      const own = samplesOf(whole).filter((sample) => sample.step === step);
      expect(own.filter((sample) => sample.mode === 'thinking')).toHaveLength(6 + 4);
      expect(own.filter((sample) => sample.mode === 'non_thinking')).toHaveLength(6);
      expect(Object.keys(modes!).sort()).toEqual(['non_thinking', 'thinking']);
      const shares = ['math', 'code'].map((domain) => metrics[`${domain}.tokens_share`]!);
      expect(shares[0]! + shares[1]!).toBeCloseTo(1, 12);
      const kl = shares[0]! * metrics['math.kl']! + shares[1]! * metrics['code.kl']!;
      expect(kl).toBeCloseTo(metrics['kl']!, 12);
    }
  });

  it('with rewards mixed in', async () => {
    const domains = [{ domain: 'math', teacher: { uri: '/models/a' }, grader: { type: 'prefix' } }];
    const rewarded = (reward_weight: number) =>
      tinyDistillSpec({
        domains,
        distill: { rollouts: 4, objective: { type: 'policy_gradient', reward_weight } },
      });
    const whole = await expectExactResume(rewarded(2));
    for (const { metrics } of stepsOf(whole))
      expect(metrics).toMatchObject({ reward: expect.any(Number), time_score: expect.any(Number) });
    expect(samplesOf(whole).every(({ status, reward }) => status === 'scored' && reward !== null)).toBe(true);
    // Without weight nobody is asked, and something else is learnt.
    const plain = await record(rewarded(0));
    expect(samplesOf(plain).every(({ status, code }) => status === 'unscored' && code === 'not_graded')).toBe(
      true,
    );
    expect(stepsOf(plain)[0]!.metrics).not.toHaveProperty('reward');
    expect(plain.final.weights).not.toEqual(whole.final.weights);
  });

  it.each([
    ['the reverse KL of whole distributions', { beta: 1 }],
    ['a Jensen-Shannon divergence of the likeliest words', { beta: 0.3, top_k: 4 }],
  ])('with %s', async (_, form) => {
    const objective = { type: 'divergence', ...form };
    const spec = tinyDistillSpec({ domains: two, distill: { prompts_per_step: 8, objective } });
    const whole = await expectExactResume(spec);
    for (const { metrics } of stepsOf(whole)) {
      expect(metrics['divergence']).toBeGreaterThan(0);
      expect(metrics['kl']).toBeTypeOf('number');
      expect(metrics).not.toHaveProperty('gated');
    }
  });

  it('is refused by name where what it carries is not the stage’s', async () => {
    const whole = await record(tinyDistillSpec());
    const [snapshot] = withinOf(whole) as [ReturnType<typeof beforeOf>];
    const state = { ...(snapshot.carried.stage.state as object), teachers: [] };
    const from = { ...snapshot, carried: { ...snapshot.carried, stage: { state } } };
    await expect(record(tinyDistillSpec(), { from })).rejects.toThrow(
      /trainer\/state\.json: what the stage carried does not fit it: it has teachers of , the stage is of math/,
    );
  });
});

describe('teachers', () => {
  const three = ['a', 'b', 'c'].map((name, i) => ({
    domain: name,
    data: i === 1 ? codeData : tinyData.math,
    teacher: { uri: `/models/${name}` },
  }));

  it('that are opened in turn teach to the bit what they do all at once', async () => {
    const spec = tinyDistillSpec({ domains: three, distill: { prompts_per_step: 6 } });
    const at = (atOnce: number, opened: string[]) =>
      record(spec, { teachers: { atOnce, opened: (name) => void opened.push(name) } });
    const [once, turns, one]: [string[], string[], string[]] = [[], [], []];
    const whole = await at(3, once);
    for (const run of [await at(2, turns), await at(1, one)]) {
      expect(run.final).toEqual(whole.final);
      expect(comparable(run.entries)).toEqual(comparable(whole.entries));
    }
    expect(once).toEqual(['/models/a', '/models/b', '/models/c']);
    expect(turns.length).toBeLessThan(one.length);
  });

  it('end the run by name before a step where one is missing', async () => {
    const domains = [...two, { domain: 'chat', teacher: { uri: '/models/none' } }];
    const entries: string[] = [];
    const run = record(tinyDistillSpec({ domains, distill: { prompts_per_step: 8 } }), {
      teachers: { opened: (name) => void entries.push(name) },
    });
    await expect(run).rejects.toThrow('there is no teacher /models/none');
    expect(entries).toEqual(['/models/a', '/models/b']);
  });

  it('that give no numbers are named, and the policy is not blamed', async () => {
    // Finite, each of them; what is computed of them is not.
    const broken = outside['/models/a']!.slice();
    broken.fill(3e38, broken.length / 2);
    const run = record(tinyDistillSpec({ domains: two }), {
      teachers: { outside: { ...outside, '/models/a': broken } },
    });
    await expect(run).rejects.toThrow(/^teacher \/models\/a gives no probability/);
  });
});

describe('a policy that is its own teacher', () => {
  const itself = { teacher: 'stage:math' };

  it.each([
    ['one', [{ domain: 'math', ...itself }]],
    [
      'several domains',
      [
        { domain: 'math', ...itself },
        { domain: 'code', ...itself, data: codeData },
      ],
    ],
  ])('has nothing to learn, of %s: no weight, no loss, no step of the optimizer', async (_, domains) => {
    const run = await record(tinyDistillSpec({ domains }));
    for (const step of stepsOf(run)) {
      expect(step).toMatchObject({
        type: 'step_skipped',
        cause: expect.stringMatching(/^no token of this batch has a weight/),
        metrics: { kl: 0, advantage_p05: 0, advantage_p50: 0, advantage_p95: 0, gated: 0 },
      });
      expect(Math.abs(step.metrics['loss']!)).toBe(0);
    }
    expect(stepsOf(run)).toHaveLength(3);
    expect(run.final.weights).toEqual(beforeOf(run).state.weights);
    expect(run.final.stepCount).toBe(0);
    expect(said(run, 'teacher_distance').map(({ kl, result }) => [kl, result])).toEqual(
      domains.map(() => [0, 'held']),
    );
  });

  it.each([0, 0.5, 1])('has no divergence of beta %s, and nothing to learn of it', async (beta) => {
    const objective = { type: 'divergence', beta };
    const run = await record(
      tinyDistillSpec({ domains: [{ domain: 'math', ...itself }], distill: { objective } }),
    );
    for (const step of stepsOf(run))
      expect(step).toMatchObject({ type: 'step_skipped', metrics: { divergence: 0, loss: 0, kl: 0 } });
    expect(stepsOf(run)).toHaveLength(3);
    expect(run.final.weights).toEqual(beforeOf(run).state.weights);
  });

  it('learns from rewards alone, where they are mixed in', async () => {
    const domains = [{ domain: 'math', ...itself, grader: { type: 'prefix' } }];
    const objective = { type: 'policy_gradient', reward_weight: 1 };
    const run = await record(
      tinyDistillSpec({ domains, distill: { rollouts: 8, temperature: 1.5, objective } }),
    );
    expect(stepsOf(run).some(({ type }) => type === 'step')).toBe(true);
    expect(run.final.weights).not.toEqual(beforeOf(run).state.weights);
  });
});

describe('a policy that has forgotten', () => {
  it.each([
    { type: 'policy_gradient' },
    { type: 'divergence', beta: 1 },
    { type: 'divergence', beta: 0 },
    { type: 'divergence', beta: 0.5, top_k: 5 },
  ])('comes nearer to the teacher that has not, by $type $beta', async (objective) => {
    // The teacher knows sums; after it rewards for long enough to spoil: the other stage is short and violent.
    const spec = tinyDistillSpec({
      sftSteps: 40,
      domains: [{ domain: 'math', teacher: 'stage:sft' }],
      distill: { steps: 30, lr: 3e-3, prompts_per_step: 16, rollouts: 4, objective },
    });
    const [sft, math, distill] = spec.stages as [object, object, object];
    const run = await record({
      ...spec,
      checkpoints: { every_steps: 1000 },
      stages: [sft, { ...math, lr: 2e-2, steps: 6 }, distill] as ExpandedSpec['stages'],
    });
    const kls = stepsOf(run).map(({ metrics }) => metrics['kl']!);
    const late = kls.slice(-5).reduce((a, b) => a + b, 0) / 5;
    expect(kls[0]).toBeGreaterThan(0.05);
    expect(late).toBeLessThan(kls[0]! / 4);
    for (const { metrics } of stepsOf(run)) {
      expect(metrics['gap_max']).toBeLessThan(1e-4);
      if (objective.type === 'policy_gradient') expect(metrics['gated']).toBe(0);
    }
  });
});

describe('rewards that could not be had', () => {
  it('are no part of what tokens are worth: the teacher alone teaches, to the bit', async () => {
    // There is nothing to run programs in; digits are some to a grader of code.
    const grader = { type: 'code', language: 'javascript' };
    const spec = (reward_weight: number) => {
      const objective = { type: 'policy_gradient', reward_weight };
      const domains = [{ domain: 'math', teacher: { uri: '/models/a' }, grader }];
      const given = tinyDistillSpec({ sftSteps: 40, domains, distill: { max_response: 2, objective } });
      return { ...given, rewards: { ...given.rewards, unscored_at_most: 1 } };
    };
    const run = await record(spec(1));
    const unscored = stepsOf(run).map(({ metrics }) => metrics['unscored']!);
    expect(Math.max(...unscored)).toBeGreaterThan(0);
    expect(run.final.weights).toEqual((await record(spec(0))).final.weights);
    expect(run.final.weights).not.toEqual(beforeOf(run).state.weights);
  });
});

describe('budgets and filters', () => {
  it('leave whole answers out, and say how many of each domain', async () => {
    const domains = [
      { ...two[0], token_budget: 9 },
      { ...two[1], token_budget: 1e6 },
    ];
    const run = await record(tinyDistillSpec({ domains, distill: { prompts_per_step: 8, steps: 1 } }));
    const [{ metrics }] = stepsOf(run) as [Step];
    const own = samplesOf(run);
    expect(own).toHaveLength(16);
    // Of those left out nobody has said anything.
    const learnt = own.filter(({ advantage }) => advantage !== null);
    expect(learnt.every(({ parts }) => 'kl' in parts)).toBe(true);
    expect(own.filter(({ parts }) => 'kl' in parts)).toHaveLength(learnt.length);
    const out = own.filter(({ advantage }) => advantage === null);
    expect(metrics['left_out_rollouts']).toBeCloseTo(out.length / 16, 12);
    const tokens = (some: typeof own): number => some.reduce((total, one) => total + one.tokens, 0);
    expect(metrics['left_out_tokens']).toBeCloseTo(tokens(out) / tokens(own), 12);
    expect(metrics['code.left_out_rollouts']).toBe(0);
    expect(metrics['math.left_out_rollouts']).toBeGreaterThan(0);
    const ofMath = tokens(learnt) * metrics['math.tokens_share']!;
    expect(ofMath).toBeLessThanOrEqual(9 + 1e-9);
  });

  it('skip a batch all of whose answers are truncated and filtered', async () => {
    const distill = { max_response: 1, temperature: 0.001, overlong: 'filter' };
    const run = await record(tinyDistillSpec({ sftSteps: 40, distill }));
    const steps = stepsOf(run);
    expect(steps.every(({ metrics }) => metrics['truncated'] === 1)).toBe(true);
    for (const step of steps)
      expect(step).toMatchObject({
        type: 'step_skipped',
        cause: 'no answer of this batch has a token to learn from',
      });
    expect(run.final.weights).toEqual(beforeOf(run).state.weights);
    expect(said(run, 'teacher_distance')).toEqual([]);
  });
});

describe('a teacher too far away', () => {
  const spec = (otherwise: string) =>
    tinyDistillSpec({
      sftSteps: 40,
      domains: two,
      distill: { prompts_per_step: 8, distance: { at_most: 0.05, otherwise } },
    });

  it('is told of, once, and taught by all the same', async () => {
    const run = await record(spec('warn'));
    expect(said(run, 'teacher_distance')).toMatchObject([
      { domain: 'math', teacher: '/models/a', at_most: 0.05, result: 'warned' },
      { domain: 'code', teacher: '/models/b', at_most: 0.05, result: 'warned' },
    ]);
    const [first] = stepsOf(run);
    for (const { domain, kl } of said(run, 'teacher_distance'))
      expect(first!.metrics[`${domain}.kl`]).toBeCloseTo(kl, 12);
    expect(run.final.weights).not.toEqual(beforeOf(run).state.weights);
  });

  it('ends the run before anything is learnt, where the spec says so', async () => {
    const run = record(spec('fail'));
    await expect(run).rejects.toBeInstanceOf(TeacherTooFar);
    await expect(run).rejects.toThrow(
      /^stage distill: teacher \/models\/a of the domain math is \d\.\d{4} nats a token from the policy, .*; stage distill: teacher \/models\/b/,
    );
  });
});
