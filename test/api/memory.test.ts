// What a job needs is asked for when it is posted: refused where no registered runner could hold it, claimed only by one
// that can, and taken where nothing is known.
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JobDetail } from '../../api/contract/job.ts';
import { gigabytes } from '../../api/contract/memory/need.ts';
import { specNeed } from '../../api/contract/memory/spec-need.ts';
import type { ModelSizes } from '../../api/contract/model-shape.ts';
import { modelSizes } from '../../api/contract/model-shape.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { keyInStore } from '../../api/jobs/store-key.ts';
import { newId } from '../../db/ids.ts';
import { apiTarget } from '../support/api-target.ts';
import { registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));

/** 1.2 thousand million parameters: 19 GB of weights, gradients and moments. */
const config = {
  hidden_size: 2048,
  intermediate_size: 8192,
  num_hidden_layers: 18,
  num_attention_heads: 16,
  max_position_embeddings: 512,
};
const tokenizer = { type: 'characters', alphabet: '0123456789+=' };
const large = (resources: object, changes: object = {}) =>
  spec({
    model: { init: { from: 'config', config, tokenizer } },
    resources,
    evaluate: undefined,
    ...changes,
  });

const hfConfig = {
  model_type: 'llama',
  vocab_size: 32_000,
  hidden_act: 'silu',
  rms_norm_eps: 1e-6,
  ...config,
};

async function post(json: unknown): Promise<{ status: number; problem: Problem; job: JobDetail }> {
  const response = await api.request('POST', '/v1/jobs', { json });
  const body: unknown = await response.json();
  return { status: response.status, problem: body as Problem, job: body as JobDetail };
}

const register = (name: string, memory_gb: number, accelerator: 'cpu' | 'webgpu' | 'cuda', labels = {}) =>
  api.client().runner.register({ protocol: 1, name, accelerator, memory_gb, labels, version: 'test' });

const put = async (key: string, text: string) => await api.store.put(key, Buffer.from(text));

describe('a job that is too large', () => {
  test('is taken while no runner of its kind is registered: one may come', async () => {
    expect((await post(large({ accelerator: 'webgpu' }))).status).toBe(201);
  });

  test('is refused with both figures where no registered runner could hold it', async () => {
    await register('small', 8, 'cuda');
    await register('less', 4, 'cuda');
    const { status, problem } = await post(large({ accelerator: 'cuda' }));
    expect([status, problem.code]).toEqual([422, 'insufficient_memory']);
    expect(problem.issues?.map(({ pointer }) => pointer)).toEqual(['/resources']);
    const need = specNeed(jobSpec.parse(large({ accelerator: 'cuda' })), sizesOf(16));
    expect(problem.detail).toContain(`at least ${gigabytes(need.bytes)} GB on cuda`);
    expect(problem.detail).toContain('has 8 GB');
    expect(gigabytes(need.bytes)).toBeGreaterThan(18);
  });

  test('waits for a runner that can hold it, whatever it asks for itself', async () => {
    await register('big', 80, 'cuda', { zone: 'a' });
    const { status, job } = await post(large({ accelerator: 'cuda', min_memory_gb: 1 }));
    expect(status).toBe(201);
    const claimBy = async (name: string, memory: number, labels = {}) =>
      (await api.client().runner.claim({ runner: (await register(name, memory, 'cuda', labels)).runner }))
        .claim?.job;
    expect(await claimBy('small', 8)).toBeUndefined();
    expect(await claimBy('big', 80, { zone: 'a' })).toBe(job.id);
  });

  test('is refused where only a runner that its labels rule out could hold it', async () => {
    await register('labelled', 8, 'cuda', { zone: 'b' });
    const zone = (name: string) => large({ accelerator: 'cuda', runner_labels: { zone: name } });
    expect((await post(zone('b'))).problem.code).toBe('insufficient_memory');
    expect((await post(zone('a'))).status).toBe(201);
    expect((await post(zone('none'))).status).toBe(201);
  });

  test('of another project’s runners nothing is counted', async () => {
    const stranger = api.client(api.strangerKey).runner;
    await stranger.register({
      protocol: 1,
      name: 'theirs',
      accelerator: 'cpu',
      memory_gb: 1,
      labels: {},
      version: 'test',
    });
    expect((await post(large({ accelerator: 'cpu' }))).status).toBe(201);
  });
});

describe('a model in the store', () => {
  const hf = (name: string) => ({ init: { from: 'hf', uri: `${api.store.describe()}/models/${name}` } });

  test('is reckoned by its config.json', async () => {
    await put('models/a/config.json', JSON.stringify(hfConfig));
    await register('tiny', 2, 'webgpu');
    const { problem } = await post(large({ accelerator: 'webgpu' }, { model: hf('a') }));
    expect(problem.code).toBe('insufficient_memory');
    const stages = [{ kind: 'math', data: 'math', steps: 1 }];
    const long = await post(large({}, { model: hf('a'), stages }));
    expect(long.problem.issues).toMatchObject([{ pointer: '/stages/0/max_response' }]);
  });

  test('that is none of ours is refused by name', async () => {
    await put('models/b/config.json', JSON.stringify({ ...hfConfig, model_type: 'gpt2' }));
    const { status, problem } = await post(large({}, { model: hf('b') }));
    expect([status, problem.code]).toEqual([422, 'invalid_spec']);
    expect(problem.issues?.[0]?.pointer).toBe('/model/init/uri');
    expect(problem.detail).toContain('model_type');
  });

  test.each([
    ['no JSON', '{'],
    ['nothing', undefined],
  ])('whose config.json is %s is left to the runner', async (_, text) => {
    if (text !== undefined) await put('models/c/config.json', text);
    const model = hf(text === undefined ? 'none' : 'c');
    expect((await post(large({ accelerator: 'webgpu' }, { model }))).status).toBe(201);
  });

  const issuesOf = async (init: object) => {
    const { status, problem } = await post(large({}, { model: { init } }));
    return status === 201 ? [] : problem.issues?.map(({ pointer, message }) => `${pointer}: ${message}`);
  };
  const files = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map(
    (name) => ({ name, size: 1, sha256: 'a'.repeat(64) }),
  );

  test('that another project has pushed is refused, the own one is taken', async () => {
    const theirs = await api.client(api.strangerKey).beginModelUpload({ files });
    const ours = await api.client().beginModelUpload({ files });
    expect(theirs.uri).not.toBe(ours.uri);
    expect(await issuesOf({ from: 'hf', uri: theirs.uri })).toEqual([
      expect.stringMatching(/^\/model\/init\/uri: .* of this project/),
    ]);
    expect(await issuesOf({ from: 'hf', uri: ours.uri })).toEqual([]);
    expect(await issuesOf({ from: 'config', config, tokenizer: { uri: theirs.uri } })).toEqual([
      expect.stringMatching(/^\/model\/init\/tokenizer\/uri: .* of this project/),
    ]);
  });

  const foreign = (store: string) => [
    `${store}/jobs/x`,
    `${store}/datasets/x`,
    `${store}/models/${newId('proj')}/x`,
    `${store}/models/../jobs/x`,
    `${store}//jobs//x/`,
    `${store}/%6aobs/x`,
    `${store}/JOBS/x`,
    `${store.replace('file:///', 'file:/')}/jobs/x`,
    `${store.replace('file:///', 'file://localhost/')}/jobs/x`,
    `${fileURLToPath(store)}/jobs/x`,
    `${fileURLToPath(store)}/models/./../jobs/x`,
  ];

  test.skipIf(apiTarget === 'worker')(
    'is refused where it is not this project’s to name, however it is spelt',
    async () => {
      await put(`jobs/x/config.json`, JSON.stringify(hfConfig));
      for (const uri of foreign(api.store.describe()))
        for (const [init, pointer] of [
          [{ from: 'hf', uri }, '/model/init/uri'],
          [{ from: 'config', config, tokenizer: { uri } }, '/model/init/tokenizer/uri'],
        ] as const) {
          const { status, problem } = await post(large({}, { model: { init } }));
          expect([uri, status, problem.code]).toEqual([uri, 422, 'invalid_spec']);
          expect(problem.issues).toMatchObject([
            { pointer, message: expect.stringContaining('of this project') },
          ]);
        }
    },
  );

  test.skipIf(apiTarget === 'worker')('is not found again behind a link', async () => {
    const link = `${fileURLToPath(api.store.describe())}-link`;
    onTestFinished(() => rm(link));
    await put(`jobs/y/config.json`, JSON.stringify(hfConfig));
    await symlink(join(fileURLToPath(api.store.describe()), 'jobs'), link);
    const model = { init: { from: 'hf', uri: `${link}/y` } };
    expect((await post(large({}, { model }))).status).toBe(422);
  });
});

test('of a bucket the key is found however the URI is spelt, and other buckets hold none', async () => {
  const store = 's3://bucket/some/prefix';
  for (const uri of ['', '/', '//', ':80/', ':80//'].map((joint) => `s3://bucket${joint}`))
    expect(await keyInStore('s3://bucket', `${uri}/jobs/x/`)).toBe('jobs/x');
  expect(await keyInStore(store, 's3://bucket///some/prefix/jobs/x')).toBe('jobs/x');
  expect(await keyInStore(store, 's3://bucket/some/prefix')).toBe('');
  for (const uri of [
    's3://bucket/some/prefixes/a',
    's3://buckets/some/prefix/a',
    's3://',
    'file:///some',
    '/some',
    'x',
  ])
    expect(await keyInStore(store, uri)).toBeUndefined();
});

test('an answer longer than the model’s positions is refused when it is posted', async () => {
  const stages = [
    { kind: 'math', data: 'math', steps: 1 },
    { kind: 'math', name: 'b', data: 'math', steps: 1, max_response: 511 },
    { kind: 'math', name: 'c', data: 'math', steps: 1, max_response: 512 },
  ];
  const { status, problem } = await post(large({}, { stages }));
  expect(status).toBe(422);
  expect(problem.issues?.map(({ pointer }) => pointer)).toEqual([
    '/stages/0/max_response',
    '/stages/2/max_response',
  ]);
});

const sizesOf = (vocab_size: number): ModelSizes => modelSizes.parse({ ...hfConfig, vocab_size });
