// Specs that are well-formed and make no sense: each is refused at the field that is wrong.
import { expect, test } from 'vitest';
import { issuesOf } from '../../../api/contract/issues.ts';
import { jobSpec } from '../../../api/contract/spec.ts';
import { cascade, domains, evaluated, judge, math, remote, rewardModel, suite } from '../bad-specs.ts';
import { spec } from '../support.ts';

const scalar = `ckpt_${'0'.repeat(26)}`;
const preference = { type: 'preference', model: scalar };

type Case = readonly [what: string, make: () => unknown, pointer: string, message: RegExp];

const shapes: Case[] = [
  [
    'neither steps nor phases',
    () => cascade({ kind: 'math', data: 'math' }),
    '/stages/0/steps',
    /give steps or phases/,
  ],
  ['steps and phases', () => cascade({ ...math, phases: [{ steps: 1 }] }), '/stages/0/steps', /not both/],
  ['no phase', () => cascade({ ...math, steps: undefined, phases: [] }), '/stages/0/phases', /1/],
  [
    'a phase without steps',
    () => cascade({ ...math, steps: undefined, phases: [{}] }),
    '/stages/0/phases/0/steps',
    /must be given/,
  ],
  [
    'phases whose steps do not count in 32 bits together',
    () => cascade({ ...math, steps: undefined, phases: [{ steps: 2 ** 31 - 1 }, { steps: 1 }] }),
    '/stages/0/phases',
    /2147483647 steps together/,
  ],
  [
    'a phase of data',
    () => cascade({ ...math, steps: undefined, phases: [{ steps: 1, data: 'math' }] }),
    '/stages/0/phases/0/data',
    /no such field/,
  ],
  [
    'a stage named as the model before all stages',
    () => cascade({ ...math, name: 'initial' }),
    '/stages/0/name',
    /give the stage another name/,
  ],
  [
    'epochs and steps of sft',
    () => cascade({ kind: 'sft', data: 'sft', epochs: 1, steps: 1 }),
    '/stages/0/steps',
    /not both/,
  ],
  [
    'halves of an odd batch',
    () => cascade({ ...math, mode: 'half_half', prompts_per_step: 3 }),
    '/stages/0/prompts_per_step',
    /must be even/,
  ],
  [
    'halves of an odd batch of domains',
    () => cascade({ ...domains({ mode: 'half_half' }, {}), prompts_per_step: 3 }),
    '/stages/0/prompts_per_step',
    /must be even/,
  ],
  [
    'a mode of a stage of domains',
    () => cascade({ ...domains({}, {}), mode: 'thinking' }),
    '/stages/0/mode',
    /no such field/,
  ],
  ['one domain', () => cascade(domains({})), '/stages/0/domains', /2/],
  ['a domain twice', () => cascade(domains({}, { domain: 'd0' })), '/stages/0/domains', /stands twice/],
  ['a domain of no weight', () => cascade(domains({}, { weight: 0 })), '/stages/0/domains/1/weight', />0/],
  ['a group of one', () => cascade({ ...math, rollouts: 1 }), '/stages/0/rollouts', /fewer than two/],
  ['a penalty that rewards', () => cascade({ ...math, kl: -1 }), '/stages/0/kl', />=0/],
  [
    'a reward model of an rlhf stage',
    () =>
      cascade({
        kind: 'rlhf',
        data: 'pairs',
        steps: 1,
        max_response: 8,
        grader: { ...judge, prompt: 'pairwise' },
        reward_model: scalar,
      }),
    '/stages/0/reward_model',
    /no such field/,
  ],
  [
    'rlhf without a grader',
    () => cascade({ kind: 'rlhf', data: 'pairs', steps: 1, max_response: 8 }),
    '/stages/0/grader',
    /must be given/,
  ],
  [
    'a reward model as a stage',
    () => cascade({ kind: 'reward_model', data: 'pairs' }),
    '/stages/0/kind',
    /.*/,
  ],
  [
    'a filter of shares above one',
    () => cascade({ ...math, filter: { type: 'epoch', readmit_hard: 2 } }),
    '/stages/0/filter/readmit_hard',
    /<=1/,
  ],
  [
    'a filter with another’s field',
    () => cascade({ ...math, filter: { type: 'off', readmit_hard: 0.1 } }),
    '/stages/0/filter/readmit_hard',
    /no such field/,
  ],
  [
    'a filter of no rounds',
    () => cascade({ ...math, filter: { type: 'batch', most_rounds: 0 } }),
    '/stages/0/filter/most_rounds',
    />=1/,
  ],
  [
    'suites of a reward model',
    () => ({ ...rewardModel(), evaluate: { suites: [suite] } }),
    '/evaluate/suites',
    /held out|holds out/,
  ],
  [
    'adapters of a reward model',
    () => rewardModel({ model: { ...(spec() as { model: object }).model, tuning: { method: 'lora' } } }),
    '/model/tuning',
    /in full/,
  ],
  ['all pairs held out', () => rewardModel({}, { held_out: 1 }), '/stage/held_out', /<1/],
  [
    'an evaluation of nothing',
    () => spec({ type: 'evaluate', stages: undefined, evaluate: undefined }),
    '/evaluate/suites',
    /at least one/,
  ],
  ['stages of an evaluation', () => spec({ type: 'evaluate' }), '/stages', /no such field/],
  [
    'gates of an evaluation',
    () => spec({ type: 'evaluate', stages: undefined, gates: [] }),
    '/gates',
    /no such field/,
  ],
];

const fits: Case[] = [
  [
    'an epoch filter with a reward model',
    () => cascade({ ...math, filter: { type: 'epoch' }, grader: preference }),
    '/stages/0/filter',
    /preference has no maximum/,
  ],
  [
    'the filter that math has by itself, too',
    () => cascade({ kind: 'math', data: 'math', steps: 1, max_response: 8, grader: preference }),
    '/stages/0/filter',
    /\{"type":"off"\}/,
  ],
  [
    'an epoch filter with a remote grader without a maximum',
    () => cascade({ ...math, filter: { type: 'epoch' }, grader: { ...remote, max_score: null } }),
    '/stages/0/filter',
    /max_score null/,
  ],
  [
    'an epoch filter with one such domain',
    () => cascade({ ...domains({}, { grader: preference }), filter: { type: 'epoch' } }),
    '/stages/0/filter',
    /no maximum/,
  ],
  [
    'an epoch filter with a remote grader by which nothing is right',
    () => cascade({ ...math, filter: { type: 'epoch' }, grader: { ...remote, max_score: 0 } }),
    '/stages/0/filter',
    /max_score 0/,
  ],
  ...(
    [
      ['a judge of groups', { ...judge, prompt: 'group' }],
      ['chances', { ...judge, prompt: 'yes_no' }],
      ['shares', { type: 'prefix' }],
      ['another maximum', { ...remote, max_score: 100 }],
    ] as const
  ).map(([what, grader]): Case => [
    `a reward model beside a grader of ${what}, which never gives the 1 that it adds to`,
    () => cascade({ ...math, kind: 'instruction', reward_model: scalar, grader }),
    '/stages/0/reward_model',
    /gives no such 1/,
  ]),
  [
    'a pass of more samples than there are',
    () => evaluated({ ...suite, k: 2, pass_at: [1, 4, 2] }),
    '/evaluate/suites/0/pass_at/1',
    /at most k \(2\)/,
  ],
  [
    'a pass twice',
    () => evaluated({ ...suite, k: 2, pass_at: [1, 1] }),
    '/evaluate/suites/0/pass_at',
    /stands twice/,
  ],
  [
    'a pass by a reward model',
    () => evaluated({ ...suite, k: 2, pass_at: [1], grader: preference }),
    '/evaluate/suites/0/pass_at',
    /no maximum/,
  ],
  [
    'a win rate by rules',
    () => evaluated({ ...suite, measure: 'win_rate' }),
    '/evaluate/suites/0/grader',
    /exact compares no answer/,
  ],
  [
    'a win rate by a yes or no',
    () => evaluated({ ...suite, measure: 'win_rate', grader: { ...judge, prompt: 'yes_no' } }),
    '/evaluate/suites/0/grader',
    /pairwise/,
  ],
  [
    'a win rate by a remote grader',
    () => evaluated({ ...suite, measure: 'win_rate', grader: remote }),
    '/evaluate/suites/0/grader',
    /compares no answer/,
  ],
  [
    'a pass at of a win rate',
    () => evaluated({ ...suite, measure: 'win_rate', grader: preference, pass_at: [1] }),
    '/evaluate/suites/0/pass_at',
    /no such field/,
  ],
  [
    'points of formulas',
    () => evaluated({ ...suite, measure: 'points' }),
    '/evaluate/suites/0/grader',
    /code alone/,
  ],
  [
    'a loss that is graded',
    () => evaluated({ ...suite, data: 'sft', measure: 'loss' }),
    '/evaluate/suites/0/grader',
    /no such field/,
  ],
  [
    'a measure that is none',
    () => evaluated({ ...suite, measure: 'beauty' }),
    '/evaluate/suites/0/measure',
    /.*/,
  ],
  [
    'a mode that a suite lists twice',
    () => evaluated({ ...suite, modes: ['thinking', 'thinking'] }),
    '/evaluate/suites/0/modes',
    /stands twice/,
  ],
  [
    'a mixed stage that leaves domains out',
    () =>
      spec({
        stages: [{ ...domains({}, {}), kind: 'mixed' }],
        evaluate: {
          suites: [suite, { ...suite, name: 't', domain: 'd1' }, { ...suite, name: 'u', domain: 'code' }],
        },
      }),
    '/stages/0/domains',
    /lacks s, code/,
  ],
  [
    'a gate of a metric that nothing measures',
    () =>
      cascade(math, {
        evaluate: { suites: [suite] },
        gates: [{ after: 'math', require: { metric: 's.thinking.avg@1', at_least: 1 } }],
      }),
    '/gates/0/require/metric',
    /s\.non_thinking\.avg@1/,
  ],
  [
    'a gate after a stage that there is not',
    () =>
      cascade(math, {
        evaluate: { suites: [suite] },
        gates: [{ after: 'code', require: { metric: 's.non_thinking.avg@1', at_least: 1 } }],
      }),
    '/gates/0/after',
    /no stage has this name: math/,
  ],
];

test.each([...shapes, ...fits])('%s', (_, make, pointer, message) => {
  const { error } = jobSpec.safeParse(make());
  expect(error === undefined ? [] : issuesOf(error)).toContainEqual({
    pointer,
    message: expect.stringMatching(message) as string,
  });
});
