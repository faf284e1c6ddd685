// A service with something in each of its tables, made by its own routes: what every GET route has to show. Every name and text
// that a client may choose holds `mark`, by which what is one project's is known wherever it appears.
import { toFile } from 'openai';
import type { Client } from '../../../api/client.ts';
import type { Fixture } from '../support.ts';
import { spec } from '../support.ts';
import { openAi } from '../openai/support.ts';

export interface Ids {
  /** One of each collection that has the most to show. */
  readonly of: Readonly<Record<Collection, string>>;
  /** All that were made. */
  readonly all: Readonly<Record<'jobs' | 'datasets' | 'errands', readonly string[]>>;
  /** A job that has ended. */
  readonly ended: string;
  /** What a runner's calls name; its attempt still holds `of.jobs`. */
  readonly fence: { readonly runner: string; readonly job: string; readonly attempt: number };
  readonly serving: string;
}

type Collection =
  | 'jobs'
  | 'checkpoints'
  | 'datasets'
  | 'errands'
  | 'model-uploads'
  | 'files'
  | 'fine_tuning'
  | 'models'
  | 'webhooks'
  | 'projects';

const sha256 = 'a'.repeat(64);
const at = { stage: 'math', phase: 0, step: 1 };

interface Mark {
  readonly mark: string;
  readonly key: string;
}

export async function fillService(
  api: Fixture,
  { mark = 'ours', key = api.keys.admin }: Partial<Mark> = {},
): Promise<Ids> {
  const client = api.client(key);
  const datasets = await fillDatasets(client, mark);
  const runner = await registerRunner(client, mark);
  const ended = await endedJob(api, client, { mark, runner });
  const running = await runningJob(api, client, { mark, runner });
  const queued = await client.createJob(spec({ ...named(mark, 'queued'), priority: -1 }));
  const byPreset = await client.createJob({
    ...spec(named(mark, 'preset')),
    preset: 'nemotron-cascade-8b',
    stages: [{ name: 'math', data: `math-${mark}`, steps: 1, max_response: 8, mode: 'non_thinking' }],
    priority: -1,
  } as never);
  await client.pauseJob(byPreset.id);
  const errands = await fillErrands(client, runner, mark);
  const tuned = await fillOpenAi(api, key, { mark, checkpoint: ended.checkpoint });
  const { id: webhook } = await client.createWebhook({
    url: `https://${mark}.example/`,
    events: ['job.failed'],
  });
  await client.testWebhook(webhook);
  const upload = await client.beginModelUpload({
    files: ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map((name) => ({
      name,
      size: mark.length,
      sha256,
    })),
  });
  const { serving } = await client.runner.serve({
    protocol: 1,
    name: `serving-${mark}`,
    checkpoint: ended.checkpoint,
    model: `model-${mark}`,
    url: 'http://127.0.0.1:1/',
    secret: `secret-${mark}-${'0'.repeat(20)}`,
    version: mark,
  });
  return {
    of: {
      jobs: running.job,
      checkpoints: ended.checkpoint,
      datasets: datasets[0]!,
      errands: errands[0]!,
      'model-uploads': upload.id,
      models: `model-${mark}`,
      webhooks: webhook,
      projects: (await client.keys({ limit: 1 })).data[0]!.project,
      ...tuned,
    },
    all: { jobs: [ended.job, running.job, queued.id, byPreset.id, tuned.fine_tuning], datasets, errands },
    ended: ended.job,
    fence: running,
    serving,
  };
}

const named = (mark: string, what: string) => ({
  name: `${what}-${mark}`,
  labels: { mark },
  stages: [
    { kind: 'sft', data: `sft-${mark}`, steps: 2 },
    { kind: 'math', data: `math-${mark}`, steps: 2, max_response: 8, grader: { type: 'exact' } },
  ],
  evaluate: { suites: [{ name: `sums-${mark}`, data: `math-${mark}`, grader: { type: 'exact' } }] },
});

async function fillDatasets(client: Client, mark: string): Promise<string[]> {
  const row = JSON.stringify({ prompt: mark, answer: mark });
  const math = await client.createDataset(
    { name: `math-${mark}`, kind: 'math', grader: '{"type":"exact"}' },
    row,
  );
  const messages = [
    { role: 'user', content: mark },
    { role: 'assistant', content: mark },
  ];
  const sft = await client.createDataset({ name: `sft-${mark}`, kind: 'sft' }, JSON.stringify({ messages }));
  const validating = await client.createDataset({ name: `proven-${mark}`, kind: 'math' }, row);
  const invalid = await client.createDataset(
    { name: `broken-${mark}`, kind: 'math' },
    JSON.stringify({ [mark]: 1 }),
  );
  return [math.id, sft.id, validating.id, invalid.id];
}

async function registerRunner(client: Client, mark: string): Promise<string> {
  const { runner } = await client.runner.register({
    protocol: 1,
    name: `runner-${mark}`,
    accelerator: 'cpu',
    memory_gb: 64,
    labels: { mark },
    grader: true,
    languages: ['python', 'javascript', 'typescript'],
    missing: { webgpu: `none for ${mark}` },
    version: mark,
  });
  return runner;
}

interface Made extends Pick<Mark, 'mark'> {
  readonly runner: string;
}

async function claimed(client: Client, runner: string): Promise<Ids['fence']> {
  const { claim } = await client.runner.claim({ runner });
  return { runner, job: claim!.job, attempt: claim!.attempt };
}

const checkpointOf = (fence: Ids['fence'], kind: 'step' | 'final') => ({
  stage: 'math',
  stage_index: 1,
  step: 1,
  kind,
  prefix: `jobs/${fence.job}/a${fence.attempt}/1-math/step-1/`,
  manifest_sha256: sha256,
  size: 12,
  files: [{ name: 'model.safetensors', size: 12, sha256 }],
});

/** One that a runner has brought to its end, with a checkpoint whose files lie in the store. */
async function endedJob(
  api: Fixture,
  client: Client,
  { mark, runner }: Made,
): Promise<{ job: string; checkpoint: string }> {
  await client.createJob(spec({ ...named(mark, 'ended'), priority: 100 }));
  const fence = await claimed(client, runner);
  const commit = checkpointOf(fence, 'final');
  await api.store.put(`${commit.prefix}manifest.json`, Buffer.from(JSON.stringify({ mark })));
  await api.store.put(`${commit.prefix}model.safetensors`, Buffer.from(mark));
  const { id } = await client.runner.checkpoint({ ...fence, checkpoint: commit });
  await client.runner.finish({ ...fence, outcome: { type: 'succeeded' }, log: `${mark}\n` });
  return { job: fence.job, checkpoint: id };
}

/** One that runs, with something of all that a runner reports. */
async function runningJob(api: Fixture, client: Client, { mark, runner }: Made): Promise<Ids['fence']> {
  await client.createJob(spec({ ...named(mark, 'running'), priority: 100 }));
  const fence = await claimed(client, runner);
  const key = `jobs/${fence.job}/a${fence.attempt}/samples/1-math-1.jsonl`;
  await api.store.put(key, Buffer.from(`${JSON.stringify(sampleOf(mark))}\n`));
  await client.runner.report({
    ...fence,
    sequence: 1,
    log: `${mark}\n`,
    entries: entriesOf(mark, key) as never,
  });
  await client.runner.checkpoint({ ...fence, checkpoint: checkpointOf(fence, 'step') });
  const progress = {
    stage: mark,
    stage_index: 1,
    stages: 2,
    step: 1,
    steps: 2,
    reward: null,
    loss: 0.5,
    tokens_per_s: 3,
    seconds_left: 4,
  };
  await client.runner.heartbeat({ ...fence, progress });
  return fence;
}

const sampleOf = (mark: string) => ({
  stage: 'math',
  step: 1,
  task: 0,
  rollout: 0,
  mode: 'non_thinking',
  prompt: [{ role: 'user', content: mark }],
  response: mark,
  tokens: 3,
  truncated: false,
  status: 'invalid',
  reward: 0,
  parts: { [mark]: 0 },
  code: 'no_answer',
  advantage: null,
});

const entriesOf = (mark: string, key: string) => [
  { type: 'stage_started', stage: 'math', stage_index: 1, steps: 2 },
  {
    type: 'computing',
    provider: 'cpu',
    device: mark,
    precision: 'float32',
    instead: null,
    memory_bytes: 1,
    cache_tokens: 0,
  },
  {
    type: 'step',
    ...at,
    metrics: { reward: 0.25, loss: null, [mark]: 1 },
    modes: { thinking: { reward: 1 } },
  },
  { type: 'step_skipped', ...at, step: 2, cause: mark },
  { type: 'evaluation', after: 'initial', cells: [{ ...cell(mark), values: [0, null] }] },
  { type: 'evaluation', after: 'math', step: 1, cells: [cell(mark)] },
  { type: 'gate', gate: 0, after: 'math', metric: mark, value: 0, low: 0, high: 0, limit: 0, result: 'held' },
  { type: 'teachers', stage: 'math', teachers: [{ domain: mark, teacher: mark, score: null }] },
  {
    type: 'teacher_distance',
    stage: 'math',
    domain: mark,
    teacher: mark,
    kl: 1,
    at_most: 2,
    result: 'warned',
  },
  { type: 'stage_skipped', stage: mark, stage_index: 0, cause: mark },
  {
    type: 'samples',
    ...at,
    key,
    rows: [{ line: 0, task: 0, rollout: 0, mode: 'non_thinking', status: 'invalid', reward: 0 }],
  },
  { type: 'stage_finished', stage: 'math', stage_index: 1, cause: mark },
  {
    type: 'micro_batches',
    ...at,
    plans: [{ length: 8, rows: 1, activations: 'kept', attention_chunk: null, bytes: 1 }],
  },
  {
    type: 'reward_waiting',
    stage: 'math',
    step: 1,
    suite: null,
    unscored: 1,
    of: 2,
    code: mark,
    detail: mark,
  },
  { type: 'reward_resumed', stage: 'math', step: 1, suite: null, waited_s: 1.5 },
  {
    type: 'preference_pairs',
    stage: mark,
    trained: 1,
    held_out: 1,
    identical: 0,
    identical_rows: [],
    chosen_longer: 0.5,
  },
  {
    type: 'data_overlap',
    stage: 'math',
    other: mark,
    other_is: 'suite',
    shares: 'prompt',
    rows: 1,
    of: 2,
    examples: [[0, 1]],
  },
  { type: 'rewound', stage: 'math', to_step: 0 },
  { type: 'resume_inexact', differences: [mark] },
];

const cell = (mark: string) => ({
  suite: `sums-${mark}`,
  domain: mark,
  mode: 'non_thinking',
  metric: 'avg@1',
  value: 0.5,
  low: 0,
  high: 1,
  tasks: 2,
});

/** One with results, one that failed, one that waits. */
async function fillErrands(client: Client, runner: string, mark: string): Promise<string[]> {
  const ask = async (): Promise<string> => {
    const items = [{ task: { prompt: mark, answer: '1' }, response: mark }];
    const answer = await client.grade({ grader: { type: 'math' }, items }, { waitMs: 0 });
    return 'errand' in answer ? answer.errand : 'none';
  };
  const outcomes = [
    { type: 'graded', results: [{ index: 0, status: 'invalid', value: 0, code: 'no_answer', detail: mark }] },
    { type: 'failed', reason: 'grader_crashed', message: mark },
  ];
  const errands: string[] = [];
  for (const outcome of outcomes) {
    errands.push(await ask());
    const { claim } = await client.runner.claimErrand({ runner, kinds: ['grade'] });
    const fence = { runner, errand: claim!.errand, attempt: claim!.attempt };
    await client.runner.finishErrand({ ...fence, outcome: outcome as never });
  }
  return [...errands, await ask()];
}

async function fillOpenAi(
  api: Fixture,
  key: string,
  { mark, checkpoint }: Pick<Mark, 'mark'> & { checkpoint: string },
): Promise<{ files: string; fine_tuning: string }> {
  const client = openAi(api, key);
  const row = {
    messages: [
      { role: 'user', content: mark },
      { role: 'assistant', content: mark },
    ],
  };
  const file = await toFile(Buffer.from(JSON.stringify(row)), `${mark}.jsonl`);
  const files = (await client.files.create({ file, purpose: 'fine-tune' })).id;
  const tuning = { model: '/models/any', training_file: files, metadata: { mark }, suffix: `tuned-${mark}` };
  const { id } = await client.fineTuning.jobs.create(tuning);
  const { runner } = await api.client(key).runner.register({
    protocol: 1,
    name: `tunes-${mark}`,
    accelerator: 'cpu',
    memory_gb: 64,
    labels: {},
    version: '1',
  });
  await client.fineTuning.jobs.create({ ...tuning, model: checkpoint });
  await api.database.sql`update jobs set ordering_key = -(2::bigint ^ 50)::bigint where id = ${id}`;
  const fence = await claimed(api.client(key), runner);
  const ours = api.client(key).runner;
  const entries = [
    { type: 'step' as const, stage: 'sft', phase: 0, step: 1, metrics: { loss: 0.5, tokens: 7 } },
  ];
  await ours.report({ ...fence, sequence: 1, entries, log: '' });
  await ours.checkpoint({
    ...fence,
    checkpoint: { ...checkpointOf(fence, 'final'), stage: 'sft', stage_index: 0 },
  });
  await ours.finish({ ...fence, outcome: { type: 'succeeded' }, log: '' });
  return { files, fine_tuning: id };
}
