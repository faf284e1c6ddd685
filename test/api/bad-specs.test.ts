// Specs that are well-formed and make no sense: each is a 422 that names the field, never taken, never a 5xx. What is merely
// malformed stands in bad-input.test.ts.
import { beforeAll, describe, expect, test } from 'vitest';
import type { JobDetail } from '../../api/contract/job.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();

const llama = {
  model_type: 'llama',
  vocab_size: 16,
  hidden_size: 16,
  intermediate_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 2048,
};
/** Ids of checkpoints, by what they hold. */
const held = { language: '', scalar: '', foreign: '', unread: '', adapters: '' };

beforeAll(async () => {
  const client = api.client();
  await registerDatasets(client);
  await client.createDataset(
    { name: 'pairs', kind: 'preference' },
    '{"prompt":"p","chosen":"a","rejected":"b"}\n',
  );
  await client.createDataset(
    { name: 'constraints', kind: 'instruction' },
    '{"prompt":"Say hello.","instruction_id_list":["punctuation:no_comma"],"kwargs":[{}]}\n',
  );
  await client.createDataset({ name: 'programs', kind: 'code' }, '{"prompt":"f","tests":["assert f()"]}\n');
  await client.createJob(spec({ priority: 100 }));
  const { claim, fence } = await claimOne(client);
  const commit = async (step: number, config?: object, name = 'model.safetensors') => {
    const prefix = `jobs/${claim.job}/a${claim.attempt}/${step}/`;
    if (config !== undefined)
      await api.store.put(`${prefix}config.json`, Buffer.from(JSON.stringify(config)));
    const files = [{ name, size: 1, sha256: 'a'.repeat(64) }];
    const at = { stage: 'sft', stage_index: 0, step, kind: 'step' as const, prefix };
    const checkpoint = { ...at, manifest_sha256: 'b'.repeat(64), size: 1, files };
    return (await client.runner.checkpoint({ ...fence, checkpoint })).id;
  };
  held.language = await commit(1, { ...llama, architectures: ['LlamaForCausalLM'] });
  held.scalar = await commit(2, { ...llama, architectures: ['LlamaForSequenceClassification'] });
  held.foreign = await commit(3, { model_type: 'gpt2' });
  held.unread = await commit(4);
  held.adapters = await commit(5, undefined, 'adapter/adapter_model.safetensors');
  await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
});

type Place = readonly [pointer: string, message: RegExp];

async function post(json: unknown): Promise<{ status: number; job: JobDetail; places: Place[] }> {
  const response = await api.request('POST', '/v1/jobs', { json });
  const body: unknown = await response.json();
  const issues = (body as Problem).issues ?? [];
  return {
    status: response.status,
    job: body as JobDetail,
    places: issues.map(({ pointer, message }) => [pointer, message as unknown as RegExp]),
  };
}

const math = { kind: 'math', data: 'math', steps: 1, max_response: 8, filter: { type: 'off' } };
const cascade = (stage: object, changes: object = {}) =>
  spec({ stages: [stage], evaluate: undefined, ...changes });
const evaluated = (suite: object) => cascade(math, { evaluate: { suites: [suite] } });
const suite = { name: 's', data: 'math', grader: { type: 'exact' } };
const judge = { type: 'judge', url: 'https://judge.example/v1', model: 'judge' };
const remote = { type: 'remote', url: 'https://grader.example/' };
const preference = (model: keyof typeof held) => ({ type: 'preference', model: held[model] });
const domains = (...given: object[]) => ({
  kind: 'multi_domain',
  steps: 1,
  max_response: 8,
  domains: given.map((one, index) => ({
    domain: `d${index}`,
    data: 'math',
    grader: { type: 'exact' },
    ...one,
  })),
});
const from = (checkpoint: keyof typeof held) => ({
  model: { init: { from: 'checkpoint', checkpoint: held[checkpoint] } },
});

/** Specs are made when the tests run: ids of checkpoints are not known before. */
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
    'a phase of data',
    () => cascade({ ...math, steps: undefined, phases: [{ steps: 1, data: 'math' }] }),
    '/stages/0/phases/0/data',
    /no such field/,
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
        reward_model: held.scalar,
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

function rewardModel(changes: object = {}, stage: object = {}) {
  const whole = { kind: 'reward_model', data: 'pairs', max_length: 32, ...stage };
  return spec({ type: 'reward_model', stages: undefined, stage: whole, evaluate: undefined, ...changes });
}

const fits: Case[] = [
  [
    'an epoch filter with a reward model',
    () => cascade({ ...math, filter: { type: 'epoch' }, grader: preference('scalar') }),
    '/stages/0/filter',
    /preference has no maximum/,
  ],
  [
    'the filter that math has by itself, too',
    () => cascade({ kind: 'math', data: 'math', steps: 1, max_response: 8, grader: preference('scalar') }),
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
    () => cascade({ ...domains({}, { grader: preference('scalar') }), filter: { type: 'epoch' } }),
    '/stages/0/filter',
    /no maximum/,
  ],
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
    () => evaluated({ ...suite, k: 2, pass_at: [1], grader: preference('scalar') }),
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
    'a win rate over rows without a reference',
    () => evaluated({ ...suite, data: 'constraints', measure: 'win_rate', grader: preference('scalar') }),
    '/evaluate/suites/0/data',
    /preference or math/,
  ],
  [
    'a pass at of a win rate',
    () => evaluated({ ...suite, measure: 'win_rate', grader: preference('scalar'), pass_at: [1] }),
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
    'a loss of tasks',
    () => evaluated({ name: 's', data: 'math', measure: 'loss' }),
    '/evaluate/suites/0/data',
    /kind math; here sft/,
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

const references: Case[] = [
  [
    'pairs for a math stage',
    () => cascade({ ...math, data: 'pairs' }),
    '/stages/0/data',
    /kind preference; here math/,
  ],
  [
    'tasks for a reward model',
    () => rewardModel({}, { data: 'math' }),
    '/stage/data',
    /kind math; here preference/,
  ],
  [
    'tasks for an sft stage',
    () => cascade({ kind: 'sft', data: 'math' }),
    '/stages/0/data',
    /kind math; here sft/,
  ],
  [
    'rows of a domain of another kind',
    () => cascade(domains({}, { data: 'sft' })),
    '/stages/0/domains/1/data',
    /kind sft; here math/,
  ],
  [
    'a domain’s data that there is not',
    () => cascade(domains({ data: 'none' }, {})),
    '/stages/0/domains/0/data',
    /no dataset "none"/,
  ],
  [
    'code graded as formulas',
    () => cascade({ ...math, data: 'programs' }),
    '/stages/0/data',
    /kind code; here math/,
  ],
  [
    'a private address in a domain',
    () => cascade(domains({}, { grader: { ...remote, url: 'http://127.0.0.1/' } })),
    '/stages/0/domains/1/grader/url',
    /127\.0\.0\.1/,
  ],
];

const scoring = (model: keyof typeof held) =>
  [
    [`a grader`, () => cascade({ ...math, grader: preference(model) }), '/stages/0/grader/model'],
    [
      `a domain’s grader`,
      () => cascade(domains({}, { grader: preference(model) })),
      '/stages/0/domains/1/grader/model',
    ],
    [
      `an instruction stage`,
      () =>
        cascade({
          kind: 'instruction',
          data: 'constraints',
          steps: 1,
          max_response: 8,
          reward_model: held[model],
        }),
      '/stages/0/reward_model',
    ],
    [
      `a suite`,
      () => evaluated({ ...suite, measure: 'win_rate', grader: preference(model) }),
      '/evaluate/suites/0/grader/model',
    ],
  ] as const;

const refused = async (make: () => unknown, pointer: string, message: RegExp) => {
  const { status, places } = await post(make());
  expect({ status, places }).toMatchObject({ status: 422 });
  expect(places).toContainEqual([pointer, expect.stringMatching(message)]);
};

describe('refused at its place', () => {
  test.each(shapes)('%s', (_, make, pointer, message) => refused(make, pointer, message));
  test.each(fits)('%s', (_, make, pointer, message) => refused(make, pointer, message));
  test.each(references)('%s', (_, make, pointer, message) => refused(make, pointer, message));
});

describe('a checkpoint to score with', () => {
  const faults = [
    ['language', /is a language model: name one with a scalar head/],
    ['foreign', /names no model of ours/],
    ['adapters', /holds adapters alone/],
  ] as const;
  test.each(
    faults.flatMap(([model, message]) => scoring(model).map((one) => [model, ...one, message] as const)),
  )('that is %s is refused in %s', (_, __, make, pointer, message) => refused(make, pointer, message));

  test('that there is not is refused in an instruction stage', () =>
    refused(
      () =>
        cascade({
          kind: 'instruction',
          data: 'constraints',
          steps: 1,
          reward_model: `ckpt_${'0'.repeat(26)}`,
        }),
      '/stages/0/reward_model',
      /there is no checkpoint/,
    ));

  test.each(['scalar', 'unread'] as const)('that is %s is taken', async (model) => {
    for (const [, make] of scoring(model)) expect((await post(make())).status).toBe(201);
  });

  test('is looked at by graders that are tried out, too', async () => {
    const item = { task: { prompt: 'p', chosen: 'a', rejected: 'b' }, response: 'a' };
    const json = { grader: preference('language'), items: [item] };
    const answer = await api.request('POST', '/v1/graders/run', { json });
    expect(answer.status).toBe(422);
    expect(((await answer.json()) as Problem).issues).toMatchObject([{ pointer: '/grader/model' }]);
  });
});

describe('a reward model to begin with', () => {
  const sft = { type: 'sft', stages: undefined, stage: { kind: 'sft', data: 'sft' }, evaluate: undefined };
  test.each([
    ['cascade', () => cascade(math, from('scalar'))],
    ['sft', () => spec({ ...sft, ...from('scalar') })],
    ['evaluate', () => spec({ type: 'evaluate', stages: undefined, ...from('scalar') })],
  ])('is refused for a %s job', (_, make) =>
    refused(make, '/model/init/checkpoint', /it is a reward model, which answers nothing/),
  );

  test('is refused as a directory, too', async () => {
    const config = { ...llama, architectures: ['LlamaForSequenceClassification'] };
    await api.store.put('models/scalar/config.json', Buffer.from(JSON.stringify(config)));
    const uri = `${api.store.describe()}/models/scalar`;
    await refused(
      () => cascade(math, { model: { init: { from: 'hf', uri } } }),
      '/model/init/uri',
      /reward model/,
    );
  });

  test('goes on being trained as one', async () => {
    expect((await post(rewardModel(from('scalar')))).status).toBe(201);
    expect((await post(rewardModel(from('language')))).status).toBe(201);
  });
});

describe('taken', () => {
  test.each<[string, () => unknown]>([
    [
      'a batch filter with a reward model',
      () => cascade({ ...math, filter: { type: 'batch' }, grader: preference('scalar') }),
    ],
    [
      'an epoch filter with a pairwise judge, which has a maximum',
      () => cascade({ ...math, filter: { type: 'epoch' }, grader: { ...judge, prompt: 'pairwise' } }),
    ],
    [
      'an epoch filter with a remote grader',
      () => cascade({ ...math, filter: { type: 'epoch' }, grader: remote }),
    ],
    [
      'a win rate by a pairwise judge',
      () => evaluated({ ...suite, measure: 'win_rate', grader: { ...judge, prompt: 'pairwise' } }),
    ],
    ['pass@k', () => evaluated({ ...suite, k: 4, pass_at: [1, 4] })],
    ['a loss', () => evaluated({ name: 's', data: 'sft', measure: 'loss' })],
    [
      'several domains without every suite’s',
      () => spec({ stages: [domains({}, {})], evaluate: { suites: [suite] } }),
    ],
    [
      'mixed, where only a loss has a domain that it lacks',
      () =>
        spec({
          stages: [{ ...domains({}, {}), kind: 'mixed' }],
          evaluate: {
            suites: [
              { ...suite, domain: 'd0' },
              { name: 'l', data: 'sft', measure: 'loss' },
            ],
          },
        }),
    ],
    ['a reward model from random weights', () => rewardModel()],
    ['an evaluation', () => spec({ type: 'evaluate', stages: undefined })],
  ])('%s', async (_, make) => {
    const { status, places } = await post(make());
    expect({ status, places }).toEqual({ status: 201, places: [] });
  });
});

describe('a preset', () => {
  const stages = [
    { name: 'math', data: 'math', steps: 2, max_response: 8, grader: { type: 'exact' } },
    { name: 'sft-1', data: 'sft', steps: 1, max_length: 64 },
  ];
  const preset = (changes: object = {}) =>
    spec({ preset: 'nemotron-cascade-8b', stages, evaluate: undefined, ...changes });

  test('is expanded before the job is queued, and the job says what it leaves out', async () => {
    const { status, job } = await post(preset());
    expect(status).toBe(201);
    const got = await api.client().job(job.id);
    const raw = (await (await api.request('GET', `/v1/jobs/${job.id}`)).json()) as JobDetail;
    expect(raw.spec).toEqual(preset());
    for (const { expanded } of [raw, got]) {
      expect(expanded.preset).toBe('nemotron-cascade-8b');
      expect(expanded.stages.map(({ name }) => name)).toEqual(['sft-1', 'math']);
      expect(expanded.stages[1]).toMatchObject({
        lr: 2e-6,
        prompts_per_step: 128,
        steps: 2,
        mode: 'thinking',
      });
      expect(expanded.omitted).toContainEqual({
        name: 'swe-2',
        why: expect.stringContaining('not posted') as string,
      });
    }
  });

  test.each<Case>([
    ['that there is not', () => preset({ preset: 'gpt' }), '/preset', /there are nemotron-cascade-8b/],
    [
      'with a stage that it has not',
      () => preset({ stages: [{ name: 'poetry' }] }),
      '/stages/0/name',
      /must name a stage of/,
    ],
    [
      'with data of the wrong kind, at its place in what was posted',
      () => preset({ stages: [stages[0], { name: 'sft-1', data: 'math' }] }),
      '/stages/1/data',
      /kind math; here sft/,
    ],
    [
      'of a model with one mode',
      () => preset({ model: { ...(spec() as { model: object }).model, thinking_control: 'none' } }),
      '/stages/0/mode',
      /only mode is non_thinking/,
    ],
    [
      'whose answers the model has no positions for',
      () => preset({ stages: [{ name: 'math', data: 'math' }] }),
      '/stages/0/phases/2/max_response',
      /2048 positions/,
    ],
  ])('%s is refused', (_, make, pointer, message) => refused(make, pointer, message));
});
