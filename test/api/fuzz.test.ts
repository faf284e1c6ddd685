// A few thousand malformed requests from a seeded generator against every POST route: whatever comes, the answer is
// no fault of ours, and the service still works afterwards.
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { mutate, spoil } from '../fault/fuzz/mutate.ts';
import { generator, pick } from '../fault/fuzz/random.ts';
import { claimOne, mathRows, registerDatasets, spec, useApi } from './support.ts';

const api = useApi({
  limits: {
    datasetLineBytes: 5_000,
    datasetArrayBytes: 20_000,
    datasetBytes: 50_000,
    datasetUnpackedBytes: 100_000,
  },
});

beforeAll(() => registerDatasets(api.client()));

/** What the routes of errands may say of our own state; documented. */
const documented = 'no_capable_runner';

interface Seed {
  path: string;
  valid: Record<string, unknown>;
}

/** A valid request for each route, of an attempt that holds its job. */
async function seedRequests(): Promise<Seed[]> {
  const client = api.client();
  await client.createJob(spec({ priority: 100 }));
  const { runner, fence } = await claimOne(client);
  const sha256 = '0'.repeat(64);
  const cell = {
    suite: 's',
    domain: 'd',
    mode: 'thinking',
    metric: 'avg@1',
    value: 0.5,
    low: 0,
    high: 1,
    tasks: 3,
  };
  const entries = [
    { type: 'stage_started', stage: 'math', stage_index: 1, steps: 3 },
    {
      type: 'step',
      stage: 'math',
      phase: 0,
      step: 1,
      mode: 'non_thinking',
      metrics: { reward: 0.5, loss: null },
    },
    { type: 'evaluation', after: 'initial', cells: [cell] },
    {
      type: 'samples',
      stage: 'math',
      phase: 0,
      step: 1,
      key: `jobs/${fence.job}/a1/s.jsonl`,
      rows: [{ line: 0, task: 0, rollout: 0, mode: 'thinking', status: 'scored', reward: 1 }],
    },
    { type: 'rewound', stage: 'math', to_step: 0 },
    { type: 'resume_inexact', differences: ['cpu'] },
  ];
  const checkpoint = {
    stage: 'math',
    stage_index: 1,
    step: 1,
    kind: 'step',
    prefix: `jobs/${fence.job}/a1/x/`,
    manifest_sha256: sha256,
    size: 1,
    files: [{ name: 'a', size: 1, sha256 }],
  };
  return [
    ...(await seedErrands(runner)),
    ...jobSeeds(fence.job),
    {
      path: '/v1/runner/register',
      valid: { protocol: 1, name: 'f', accelerator: 'cpu', memory_gb: 1, labels: { a: 'b' }, version: '1' },
    },
    { path: '/v1/runner/claim', valid: { runner } },
    {
      path: '/v1/runner/heartbeat',
      valid: {
        ...fence,
        progress: { stage: 'a', stage_index: 0, stages: 1, step: 1, steps: 2, reward: 0.1 },
      },
    },
    { path: '/v1/runner/report', valid: { ...fence, sequence: 1, entries, log: 'line\n' } },
    { path: '/v1/runner/checkpoints', valid: { ...fence, checkpoint } },
    { path: '/v1/runner/stage-ends', valid: { ...fence, stage_index: 0 } },
    {
      path: '/v1/runner/finish',
      valid: { ...fence, outcome: { type: 'failed', reason: 'stalled', message: 'm' }, log: '' },
    },
  ];
}

/** Specs of several types; `job` is one of the project. */
const jobSeeds = (job: string): Seed[] => [
  { path: '/v1/jobs', valid: spec() },
  {
    path: '/v1/jobs',
    valid: spec({
      preset: 'nemotron-cascade-8b',
      stages: [{ name: 'math', data: 'math', steps: 1, max_response: 8, optimizer: { eps: 1e-6 } }],
    }),
  },
  {
    path: '/v1/jobs',
    valid: spec({
      type: 'distill',
      stages: undefined,
      evaluate: undefined,
      stage: {
        kind: 'distill',
        steps: 1,
        max_response: 8,
        objective: { type: 'divergence', beta: 0.5, top_k: 4 },
        domains: [
          { domain: 'a', data: 'math', teacher: { uri: '/models/a' }, weight: 2, token_budget: 100 },
          { domain: 'b', data: 'math', teacher: { from_job: job, take: 'stage:sft' } },
        ],
      },
    }),
  },
];

/** A valid request for each route of errands, of an attempt that holds its errand. */
async function seedErrands(runner: string): Promise<Seed[]> {
  await api.client().runner.register({
    protocol: 1,
    name: 'grades',
    accelerator: 'cpu',
    memory_gb: 1,
    grader: true,
    languages: ['python'],
    version: '1',
  });
  await api.database.sql`delete from errands`;
  const items = [
    { task: { prompt: 'p', answer: '1' }, response: 'r' },
    { task: { prompt: [{ role: 'user', content: 'p' }], answer: 1 }, response: '' },
  ];
  const grade = { grader: { type: 'math' } as const, items };
  await api.client().grade(grade, { waitMs: 0 });
  const { claim } = await api.client().runner.claimErrand({ runner, kinds: ['grade'] });
  const fence = { runner, errand: claim!.errand, attempt: claim!.attempt };
  const results = [
    { index: 0, status: 'scored', value: 1, parts: { a: 0.5 }, detail: 'd' },
    { index: 1, status: 'invalid', value: 0, code: 'no_answer' },
  ];
  const issues = [{ row: 0, pointer: '', message: 'm' }];
  const report = { broken: 1, issues, unproven: 0, zero_maximum: { count: 1, rows: [0] } };
  return [
    { path: '/v1/graders/run?wait_ms=0', valid: grade },
    { path: '/v1/runner/errands/claim', valid: { runner, kinds: ['grade', 'validate'] } },
    { path: '/v1/runner/errands/heartbeat', valid: fence },
    { path: '/v1/runner/errands/finish', valid: { ...fence, outcome: { type: 'validated', report } } },
    { path: '/v1/runner/errands/finish', valid: { ...fence, outcome: { type: 'graded', results } } },
  ];
}

const reportOf = (seeds: readonly Seed[]): Seed => seeds.find(({ path }) => path.endsWith('report')) as Seed;

test('JSON routes', { timeout: 120_000 }, async () => {
  const random = generator(20_260_801);
  const statuses = new Map<number, number>();
  let applied = 0;
  let finished = 0;
  let seeds = await seedRequests();
  for (let i = 0; i < 4_000; i++) {
    const { path, valid } = random() < 0.3 ? reportOf(seeds) : pick(random, seeds);
    if ('sequence' in valid) valid['sequence'] = i + 1;
    const body = spoil(random, JSON.stringify(mutate(random, valid)));
    const headers: Record<string, string> = {
      'content-type': pick(random, [
        'application/json',
        'application/json',
        'application/json; charset=utf-8',
        'text/plain',
      ]),
    };
    if (random() < 0.1) headers['idempotency-key'] = pick(random, ['a', 'b', 'ü', ' ', 'x'.repeat(300)]);
    const response = await api.request('POST', path, { body, headers });
    const problem = response.status >= 500 ? await response.text() : '';
    if (response.status >= 500 && !problem.includes(documented))
      throw new Error(
        `${response.status} from ${path}: ${problem} for ${Buffer.from(body).toString().slice(0, 2_000)}`,
      );
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (path.endsWith('report') && response.status === 200) applied += 1;
    if (path.endsWith('/errands/finish') && response.status === 200) finished += 1;
    if (path.endsWith('finish') && response.status === 200) seeds = await seedRequests();
  }
  // The generator must reach past the door: some of it is valid, and most is refused by the schema.
  expect(statuses.get(422)).toBeGreaterThan(500);
  expect((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0)).toBeGreaterThan(50);
  expect(applied).toBeGreaterThan(20);
  expect(finished).toBeGreaterThan(5);
  expect((await api.client().createJob(spec())).state).toBe('queued');
});

test('datasets', { timeout: 120_000 }, async () => {
  const random = generator(7);
  const rows = mathRows
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const statuses = new Map<number, number>();
  for (let i = 0; i < 600; i++) {
    const mutated = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
      random() < 0.5 ? pick(random, rows) : mutate(random, pick(random, rows)),
    );
    const text =
      random() < 0.7 ? mutated.map((row) => JSON.stringify(row)).join('\n') : JSON.stringify(mutated);
    let body: Uint8Array<ArrayBuffer> = spoil(random, text);
    if (random() < 0.3) body = spoil(random, Buffer.from(gzipSync(body)).toString('latin1'));
    if (random() < 0.2) body = new Uint8Array(gzipSync(body)).slice(0, Math.floor(random() * 60));
    const query = new URLSearchParams({
      name: `n${Math.floor(random() * 40)}`,
      kind: pick(random, ['math', 'sft', 'code', 'swe', 'x']),
    });
    if (random() < 0.3)
      query.set(
        'fields',
        JSON.stringify(
          mutate(random, { prompt: 'prompt', answer: { by: 'answer', cases: { '2': 'prompt' } } }),
        ),
      );
    if (random() < 0.5) query.set('grader', JSON.stringify(mutate(random, { type: 'exact' })));
    if (random() < 0.2) query.set('answer_format', pick(random, ['gsm8k', 'plain', '']));
    const headers: Record<string, string> =
      random() < 0.1 ? { 'content-encoding': pick(random, ['gzip', 'br', '']) } : {};
    const response = await api.request('POST', `/v1/datasets?${query.toString()}`, { body, headers });
    if (response.status >= 500)
      throw new Error(
        `${response.status}: ${await response.text()} for ${query.toString()} ${Buffer.from(body).toString('latin1').slice(0, 500)}`,
      );
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  }
  expect(statuses.get(201)).toBeGreaterThan(10);
  expect(statuses.get(422)).toBeGreaterThan(10);
});

test('paths and queries', async () => {
  const random = generator(99);
  const parts = [
    'jobs',
    'datasets',
    'errands',
    'err_00000000000000000000000000',
    'checkpoints',
    'runners',
    'events',
    'metrics',
    'samples',
    'files',
    'logs',
    '%',
    '%00',
    '%ff',
    '..',
    '.',
    '',
    'job_00000000000000000000000000',
    'x'.repeat(3_000),
    '%2f',
    'é',
    '*',
    '{id}',
    ':id',
  ];
  for (let i = 0; i < 1_000; i++) {
    const path = `/v1/${Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random, parts)).join('/')}`;
    const query =
      random() < 0.5
        ? ''
        : `?${pick(random, ['limit', 'after', 'before', 'state', 'label', 'key', 'stage', 'mode', 'step', 'attempt'])}=${pick(random, ['', '1', '-1', '1e9', 'x', '%00', '%ff', '%ud800', "'", 'a:b', '[]', '99999999999999999999'])}`;
    const response = await api.request('GET', path + query);
    if (response.status >= 500)
      throw new Error(`${response.status} from ${path}${query}: ${await response.text()}`);
  }
});
