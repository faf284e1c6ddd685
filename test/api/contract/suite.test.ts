// Suites and gates as posted: what each measure takes, and that a gate names a metric and a point that there are.
import { expect, it } from 'vitest';
import { expandSpec } from '../../../api/contract/expand.ts';
import { jobSpec } from '../../../api/contract/spec.ts';

const model = { init: { from: 'hf', uri: '/models/tiny' } };
const math = { name: 's', data: 'rows', grader: { type: 'math' } };
const preference = { type: 'preference', model: `ckpt_${'a'.repeat(24)}` };
const judge = { type: 'judge', url: 'https://judge.example/v1', model: 'j' };

const faultsOf = (spec: object): string[] => {
  const parsed = jobSpec.safeParse({ model, ...spec });
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
};
const faultsOfSuite = (suite: object): string[] =>
  faultsOf({ type: 'evaluate', evaluate: { suites: [suite] } });

it.each([
  ['avg@k and pass@j', { ...math, k: 8, pass_at: [1, 8] }],
  ['a loss, without a grader', { name: 's', data: 'rows', measure: 'loss' }],
  ['a win rate by a reward model', { ...math, measure: 'win_rate', grader: preference }],
  [
    'a win rate by a pairwise judge',
    { ...math, measure: 'win_rate', grader: { ...judge, prompt: 'pairwise' } },
  ],
  ['points of code', { ...math, measure: 'points', grader: { type: 'code', language: 'python' } }],
  ['scores of a reward model', { ...math, grader: preference }],
])('takes %s', (_, suite) => {
  expect(faultsOfSuite(suite)).toEqual([]);
});

it.each([
  [
    'pass@j of more samples than there are',
    { ...math, k: 4, pass_at: [1, 5] },
    /suites\.0\.pass_at\.\d: must be at most k/,
  ],
  ['a j that stands twice', { ...math, k: 4, pass_at: [1, 1] }, /pass_at: a number stands twice/],
  ['pass@j without a maximum', { ...math, grader: preference, pass_at: [1] }, /pass_at: .* has no maximum/],
  [
    'pass@j of an unbounded service',
    { ...math, grader: { type: 'remote', url: 'https://g.example', max_score: null }, pass_at: [1] },
    /pass_at: .* has no maximum/,
  ],
  ['a win rate by math', { ...math, measure: 'win_rate' }, /grader: math compares no answer/],
  [
    'a win rate by yes and no',
    { ...math, measure: 'win_rate', grader: { ...judge, prompt: 'yes_no' } },
    /grader: judge compares no answer/,
  ],
  ['points of math', { ...math, measure: 'points' }, /grader: points are of subtasks/],
])('refuses %s', (_, suite, fault) => {
  expect(faultsOfSuite(suite)).toEqual([expect.stringMatching(fault)]);
});

const gated = (require: object, after = 'math') => ({
  type: 'cascade',
  stages: [
    { kind: 'sft', data: 'rows' },
    { kind: 'math', data: 'rows', steps: 1 },
  ],
  evaluate: {
    suites: [
      { ...math, k: 8, modes: ['thinking', 'non_thinking'], pass_at: [1] },
      { name: 'ioi', data: 'rows', measure: 'points', grader: { type: 'code', language: 'python' } },
    ],
  },
  gates: [{ after, require }],
});

it.each([
  ['a drop since the initial model', { metric: 's.thinking.avg@8', drop_at_most: 0.02 }],
  ['a drop since a stage', { metric: 's.non_thinking.pass@1', drop_at_most: 0, since: 'sft' }],
  ['a level', { metric: 'ioi.non_thinking.points_share', at_least: 0.3, confidence: 0.99 }],
])('takes a gate on %s', (_, require) => {
  expect(faultsOf(gated(require))).toEqual([]);
});

it('takes a gate on a suite whose name has dots', () => {
  const spec = gated({ metric: 'math.v1.thinking.avg@8', at_least: 0 });
  expect(
    faultsOf({ ...spec, evaluate: { suites: [{ ...spec.evaluate.suites[0], name: 'math.v1' }] } }),
  ).toEqual([]);
});

it.each([
  [
    'a suite that there is not',
    gated({ metric: 'x.thinking.avg@8', at_least: 0 }),
    /metric: no suite of this spec measures it/,
  ],
  ['another k', gated({ metric: 's.thinking.avg@4', at_least: 0 }), /metric: no suite/],
  ['a mode that is not evaluated', gated({ metric: 'ioi.thinking.points', at_least: 0 }), /metric: no suite/],
  [
    'a stage that there is not',
    gated({ metric: 's.thinking.avg@8', at_least: 0 }, 'swe'),
    /after: no stage has this name/,
  ],
  [
    'a point that comes later',
    gated({ metric: 's.thinking.avg@8', drop_at_most: 0, since: 'math' }, 'sft'),
    /since: must come before sft/,
  ],
  [
    'both kinds of limit',
    gated({ metric: 's.thinking.avg@8', drop_at_most: 0, at_least: 0 }),
    /give drop_at_most or at_least/,
  ],
  [
    'a level since a stage',
    gated({ metric: 's.thinking.avg@8', at_least: 0, since: 'sft' }),
    /since: goes with drop_at_most/,
  ],
])('refuses a gate on %s', (_, spec, fault) => {
  expect(faultsOf(spec)).toEqual([expect.stringMatching(fault)]);
});

it('expands every measure, with its domain', () => {
  const spec = jobSpec.parse({ model, ...gated({ metric: 's.thinking.pass@1', at_least: 0 }) });
  const { evaluate, gates } = expandSpec(spec, new Map([['rows', `ds_${'r'.repeat(26)}`]]));
  expect(evaluate.suites.map(({ measure, domain }) => [measure, domain])).toEqual([
    ['average', 's'],
    ['points', 'ioi'],
  ]);
  expect(gates).toMatchObject([{ otherwise: 'pause', require: { confidence: 0.95 } }]);
});
