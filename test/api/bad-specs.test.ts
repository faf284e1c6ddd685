// Specs whose references do not fit, posted: each is a 422 that names the field, never taken, never a 5xx. What a spec alone says wrong
// stands in contract/bad-specs.test.ts, what is merely malformed in bad-input.test.ts.
import { beforeAll, describe, expect, test } from 'vitest';
import type { JobDetail } from '../../api/contract/job.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { cascade, domains, evaluated, judge, math, remote, rewardModel, suite } from './bad-specs.ts';
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

const preference = (model: keyof typeof held) => ({ type: 'preference', model: held[model] });
const from = (checkpoint: keyof typeof held) => ({
  model: { init: { from: 'checkpoint', checkpoint: held[checkpoint] } },
});

/** Specs are made when the tests run: ids of checkpoints are not known before. */
type Case = readonly [what: string, make: () => unknown, pointer: string, message: RegExp];

const references: Case[] = [
  [
    'a win rate over rows without a reference',
    () => evaluated({ ...suite, data: 'constraints', measure: 'win_rate', grader: preference('scalar') }),
    '/evaluate/suites/0/data',
    /preference or math/,
  ],
  [
    'a loss of tasks',
    () => evaluated({ name: 's', data: 'math', measure: 'loss' }),
    '/evaluate/suites/0/data',
    /kind math; here sft/,
  ],
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
  const { model } = spec() as { model: object };
  const preset = (changes: object = {}) =>
    spec({
      preset: 'nemotron-cascade-8b',
      model: { ...model, thinking_control: 'flags' },
      stages,
      evaluate: undefined,
      ...changes,
    });

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
      () => preset({ model: { ...model, thinking_control: 'none' } }),
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
