// Teachers of a posted job: each must be there, be whole, be a language model, and read tokens as the student writes them, so far as the
// store says; those of another job are chosen by its evaluations, once.
import { beforeAll, describe, expect, test } from 'vitest';
import type { JobDetail } from '../../api/contract/job.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { charactersTokenizer } from '../../runner/engine/tokenizer/characters.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';
import type { Fenced } from './support.ts';

const api = useApi();
const alphabet = '0123456789+=';

const llama = {
  model_type: 'llama',
  vocab_size: 16,
  hidden_size: 16,
  intermediate_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 2048,
  architectures: ['LlamaForCausalLM'],
};

const put = (key: string, value: unknown) =>
  api.store.put(key, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

interface Files {
  readonly config?: object;
  readonly tokenizer?: string;
  /** Of tokenizer.json in the row. */
  readonly hash?: string;
  readonly weights?: string;
}

/** A checkpoint of an attempt, with such files. */
async function commit(
  fence: Fenced,
  at: { stage: string; stage_index: number; kind: 'step' | 'stage_end' | 'final' },
  { config = llama, tokenizer, hash = 'c', weights = 'model.safetensors' }: Files = {},
): Promise<string> {
  const prefix = `jobs/${fence.job}/a${fence.attempt}/${at.stage_index}-${at.kind}-${counter++}/`;
  await put(`${prefix}config.json`, config);
  await put(`${prefix}tokenizer.json`, tokenizer ?? charactersTokenizer(alphabet).tokenizer);
  const files = [
    { name: weights, size: 1, sha256: 'a'.repeat(64) },
    { name: 'tokenizer.json', size: 1, sha256: hash.repeat(64) },
  ];
  const checkpoint = { ...at, step: 2, prefix, manifest_sha256: 'b'.repeat(64), size: 2, files };
  return (await api.client().runner.checkpoint({ ...fence, checkpoint })).id;
}
let counter = 0;

const within = { stage: 'sft', stage_index: 0, kind: 'step' } as const;
/** Ids of checkpoints, by what they are. */
const held = {
  same: '',
  hashed: '',
  foreign: '',
  scalar: '',
  adapters: '',
  words: '',
  larger: '',
  short: '',
  unread: '',
};
type Held = keyof typeof held;

beforeAll(async () => {
  const client = api.client();
  await registerDatasets(client);
  await client.createJob(spec({ priority: 100 }));
  const { fence } = await claimOne(client);
  held.same = await commit(fence, within);
  held.foreign = await commit(fence, within, { config: { model_type: 'gpt2' } });
  held.scalar = await commit(fence, within, {
    config: { ...llama, architectures: ['LlamaForSequenceClassification'] },
  });
  held.adapters = await commit(fence, within, { weights: 'adapter/adapter_model.safetensors' });
  held.words = await commit(fence, within, {
    tokenizer: charactersTokenizer('9876543210=+').tokenizer,
    hash: 'd',
  });
  held.hashed = await commit(fence, within, { tokenizer: 'not read: the hash says enough' });
  held.larger = await commit(fence, within, { config: { ...llama, vocab_size: 32 } });
  held.short = await commit(fence, within, { config: { ...llama, max_position_embeddings: 4 } });
  held.unread = await commit(fence, within, { tokenizer: '{', hash: 'e' });
  await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
});

const domain = (teacher: unknown, changes: object = {}) => ({
  domain: 'math',
  data: 'math',
  teacher,
  ...changes,
});
const distil = (domains: readonly object[], changes: object = {}, stage: object = {}) =>
  spec({
    type: 'distill',
    stages: undefined,
    evaluate: undefined,
    stage: { kind: 'distill', steps: 2, max_response: 8, domains, ...stage },
    ...changes,
  });
const begun = (checkpoint: string) => ({ model: { init: { from: 'checkpoint', checkpoint } } });

async function post(json: unknown): Promise<{ status: number; job: JobDetail; issues: string[] }> {
  const response = await api.request('POST', '/v1/jobs', { json });
  const body: unknown = await response.json();
  const issues = ((body as Problem).issues ?? []).map(({ pointer, message }) => `${pointer}: ${message}`);
  return { status: response.status, job: body as JobDetail, issues };
}

const teachersOf = ({ expanded }: JobDetail) =>
  expanded.stages.flatMap((stage) =>
    stage.kind === 'distill' ? stage.domains.map(({ teacher }) => teacher) : [],
  );

describe('a checkpoint that teaches', () => {
  const at = '/stage/domains/0/teacher';
  test.each<[string, () => string, RegExp]>([
    ['that there is not', () => `ckpt_${'0'.repeat(26)}`, /: there is no checkpoint ckpt_0/],
    ['of no model of ours', () => held.foreign, / names no model of ours in its config\.json$/],
    [
      'that is a reward model',
      () => held.scalar,
      / is a reward model, which says of no word how likely it is/,
    ],
    ['of adapters', () => held.adapters, / holds adapters alone/],
    [
      'with other words',
      () => held.words,
      /its vocabulary is another: "0" has the id 13 in it, and has the id 4/,
    ],
    [
      'of another vocab_size',
      () => held.larger,
      /vocab_size in its config\.json is 32, that of the model 16/,
    ],
    ['without the positions', () => held.short, /has 4 positions, and is to score answers of up to 8 tokens/],
  ])('%s is refused at its place', async (_, teacher, message) => {
    const { status, issues } = await post(distil([domain(teacher())]));
    expect([status, issues]).toEqual([422, [expect.stringMatching(message)]]);
    expect(issues[0]).toMatch(new RegExp(`^${at}: `));
  });

  test.each<Held>(['same', 'unread'])('that is %s is taken', async (which) => {
    const { status, job } = await post(distil([domain(held[which])]));
    expect([status, teachersOf(job)]).toEqual([201, [held[which]]]);
  });

  test('whose tokenizer has the hash of the student’s is taken without a look into it', async () => {
    expect((await post(distil([domain(held.hashed)], begun(held.same)))).status).toBe(201);
    const { issues } = await post(distil([domain(held.words)], begun(held.same)));
    expect(issues).toEqual([expect.stringMatching(/its vocabulary is another: .* in that of the model/)]);
  });

  test('of another project looks like one that there is not', async () => {
    const theirs = api.client(api.strangerKey);
    await registerDatasets(theirs);
    const posted = distil([domain(held.same)]);
    await expect(theirs.createJob(posted)).rejects.toMatchObject({
      issues: [{ pointer: at, message: `there is no checkpoint ${held.same}` }],
    });
  });

  test('is refused in a repair, and in each of several domains, at its place', async () => {
    const evaluate = { suites: [{ name: 'sums', domain: 'math', data: 'math', grader: { type: 'exact' } }] };
    const repair = { max_response: 8, domains: [domain(held.same), domain(held.words, { domain: 'other' })] };
    const require = { metric: 'sums.non_thinking.avg@1', at_least: 0.5 };
    const gates = [{ after: 'math', require, otherwise: 'distill', repair }];
    const { issues } = await post(spec({ evaluate, gates }));
    expect(issues).toEqual([expect.stringMatching(/^\/gates\/0\/repair\/domains\/1\/teacher: checkpoint/)]);
  });
});

describe('a directory that teaches', () => {
  const uri = (name: string) => `${api.store.describe()}/models/${name}`;
  const model = async (name: string, tokenizer: string, config: object = llama) => {
    await put(`models/${name}/config.json`, config);
    await put(`models/${name}/tokenizer.json`, tokenizer);
    return { uri: uri(name) };
  };

  test('is compared by what its tokenizer means, not by its bytes', async () => {
    const { tokenizer } = charactersTokenizer(alphabet);
    const same = await model('same', JSON.stringify(JSON.parse(tokenizer)));
    for (const changes of [{}, begun(held.same), { model: { init: { from: 'hf', uri: uri('same') } } }])
      expect([changes, (await post(distil([domain(same)], changes))).issues]).toEqual([changes, []]);
    const other = await model('other', charactersTokenizer('abc').tokenizer);
    for (const changes of [{}, begun(held.same), { model: { init: { from: 'hf', uri: uri('same') } } }])
      expect((await post(distil([domain(other)], changes))).issues).toEqual([
        expect.stringMatching(
          /^\/stage\/domains\/0\/teacher\/uri: .*vocabulary has 7 words, that of the model 16/,
        ),
      ]);
  });

  test('of a student that is new with the tokenizer of a directory is compared with that', async () => {
    const own = await model('own', charactersTokenizer('xyz').tokenizer);
    const { init } = spec().model as { init: { config: object } };
    const changes = { model: { init: { ...init, tokenizer: own } } };
    expect((await post(distil([domain(own)], changes))).status).toBe(201);
    expect((await post(distil([domain(held.same)], changes))).issues).toEqual([
      expect.stringMatching(/^\/stage\/domains\/0\/teacher: .*vocabulary has 16 words, that of the model 7/),
    ]);
  });

  test('is this project’s to name, or elsewhere', async () => {
    for (const path of ['jobs/x', 'datasets/x', 'models/proj_01234567890123456789012345/x'])
      expect((await post(distil([domain({ uri: `${api.store.describe()}/${path}` })]))).issues).toEqual([
        expect.stringMatching(/^\/stage\/domains\/0\/teacher\/uri: .* is no model directory of this project/),
      ]);
    const elsewhere = [{ uri: '/models/elsewhere' }, { uri: 's3://other/model' }];
    for (const teacher of elsewhere) expect((await post(distil([domain(teacher)]))).status).toBe(201);
  });
});

describe('a teacher of another job', () => {
  const suites = ['math', 'chat'].map((name) => ({
    name,
    domain: name,
    data: 'math',
    grader: { type: 'exact' },
  }));
  const stages = ['a', 'b', 'c'].map((name) => ({
    kind: 'math',
    name,
    data: 'math',
    steps: 2,
    max_response: 8,
    grader: { type: 'exact' },
  }));
  const job = { id: '', ends: { a: '', b: '' } };
  const cell = (name: string, value: number) => ({
    suite: name,
    domain: name,
    mode: 'non_thinking' as const,
    metric: 'avg@1',
    value,
    low: 0,
    high: 1,
    tasks: 2,
  });
  const evaluation = (after: string, math: number, chat: number, step: number | null = null) => ({
    type: 'evaluation' as const,
    after,
    step,
    cells: [cell('math', math), cell('chat', chat)],
  });

  beforeAll(async () => {
    const client = api.client();
    job.id = (await client.createJob(spec({ priority: 90, stages, evaluate: { suites } }))).id;
    const { fence } = await claimOne(client);
    job.ends.a = await commit(fence, { stage: 'a', stage_index: 0, kind: 'stage_end' });
    job.ends.b = await commit(fence, { stage: 'b', stage_index: 1, kind: 'stage_end' });
    await commit(fence, { stage: 'c', stage_index: 2, kind: 'step' });
    const entries = [
      evaluation('initial', 1, 1),
      evaluation('a', 0.6, 0.5),
      evaluation('b', 0.9, 0.9, 1),
      evaluation('b', 0.4, 0.5),
      evaluation('c', 1, 1),
    ];
    await client.runner.report({ ...fence, sequence: 1, entries });
  });

  test('is the end of a stage that its evaluations say is best in the domain; of equals the later', async () => {
    const teacher = { from_job: job.id };
    const posted = distil([
      domain(teacher),
      domain(teacher, { domain: 'chat' }),
      domain({ ...teacher, take: 'stage:a' }, { domain: 'x' }),
    ]);
    const { status, job: made, issues } = await post(posted);
    expect([status, issues]).toEqual([201, []]);
    expect(teachersOf(made)).toEqual([job.ends.a, job.ends.b, job.ends.a]);
    // As it was posted it stands beside it.
    expect(made.spec).toMatchObject({ stage: { domains: [{ teacher }, { teacher }, {}] } });
  });

  test('is claimed as a checkpoint', async () => {
    const client = api.client();
    const { id } = await client.createJob(distil([domain({ from_job: job.id })], { priority: 95 }));
    const { claim, fence } = await claimOne(client, 'runner-2');
    expect(claim).toMatchObject({ job: id, teachers: [{ id: job.ends.a, stage: 'a', kind: 'stage_end' }] });
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });

  test.each<[string, () => object, string, RegExp]>([
    [
      'a job that there is not',
      () => ({ from_job: `job_${'0'.repeat(26)}` }),
      'from_job',
      /^there is no job job_0/,
    ],
    [
      'a stage that it has not',
      () => ({ from_job: job.id, take: 'stage:z' }),
      'take',
      /has no stage named z: a, b, c$/,
    ],
    [
      'a stage that has not ended',
      () => ({ from_job: job.id, take: 'stage:c' }),
      'take',
      /has not committed the end of stage c/,
    ],
  ])('is refused of %s', async (_, teacher, field, message) => {
    const { status, issues } = await post(distil([domain(teacher())]));
    const place = `/stage/domains/0/teacher/${field}: `;
    expect([status, issues.length, issues[0]?.startsWith(place)]).toEqual([422, 1, true]);
    expect(issues[0]?.slice(place.length)).toMatch(message);
  });

  test('is refused where no suite measures the domain, or no end of a stage has been evaluated', async () => {
    const { issues } = await post(distil([domain({ from_job: job.id }, { domain: 'code' })]));
    expect(issues).toEqual([
      expect.stringMatching(
        /^\/stage\/domains\/0\/teacher\/take: .*no suite that measures code.*\(it measures math, chat\)/,
      ),
    ]);
    const { id } = await api.client().createJob(spec({ evaluate: { suites } }));
    expect((await post(distil([domain({ from_job: id })]))).issues).toEqual([
      expect.stringMatching(/has no committed end of a stage that is evaluated in math/),
    ]);
  });

  test('of another project looks like one that there is not', async () => {
    const posted = distil([domain({ from_job: job.id })]);
    await expect(api.client(api.strangerKey).createJob(posted)).rejects.toMatchObject({
      issues: [{ pointer: '/stage/domains/0/teacher/from_job', message: `there is no job ${job.id}` }],
    });
  });
});
