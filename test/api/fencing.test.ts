// Two runners that each believe they hold one job: after the lease of the first has run out, whatever became of the job since,
// each of its calls is answered 409 `lease_lost` and changes no row. Routes are taken from the service's own description: a new
// fenced one without a case here fails.
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Problem } from '../../api/contract/problem.ts';
import { createMetrics } from '../../api/metrics/metrics.ts';
import { tick } from '../../api/tick.ts';
import type { Fenced } from './support.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));

const sha256 = 'a'.repeat(64);

const commitOf = ({ job, attempt }: Fenced, step: number, kind: 'step' | 'stage_end' = 'step') => ({
  ...{ stage: 'sft', stage_index: 0, step, kind, manifest_sha256: sha256, size: 10 },
  prefix: `jobs/${job}/a${attempt}/0-sft/step-${step}/`,
  files: [{ name: 'model.safetensors', size: 10, sha256 }],
});

const stepOf = (step: number) => ({
  ...{ type: 'step' as const, stage: 'sft', phase: 0, step, mode: 'non_thinking' as const },
  metrics: { loss: 1 },
});

const progressAt = (step: number) => ({ stage: 'sft', stage_index: 0, stages: 2, step, steps: 2 });

const sampled = ({ job, attempt }: Fenced) => ({
  ...{ type: 'samples' as const, stage: 'sft', phase: 0, step: 1 },
  key: `jobs/${job}/a${attempt}/samples/sft-1.jsonl`,
  rows: [
    {
      ...{ line: 0, task: 0, rollout: 0, mode: 'non_thinking' as const },
      ...{ status: 'scored' as const, reward: 1 },
    },
  ],
});

/** What the late runner would say, by route: bodies that would each change something if they were heard. */
const late: Record<string, (fence: Fenced) => Record<string, unknown>> = {
  '/v1/runner/heartbeat': (fence) => ({ ...fence, progress: progressAt(2) }),
  '/v1/runner/report': (fence) => ({
    ...{ ...fence, sequence: 9, log: 'late' },
    entries: [stepOf(2), sampled(fence)],
  }),
  '/v1/runner/checkpoints': (fence) => ({ ...fence, checkpoint: commitOf(fence, 2) }),
  '/v1/runner/stage-ends': (fence) => ({ ...fence, stage_index: 0 }),
  '/v1/runner/finish': (fence) => ({ ...fence, outcome: { type: 'succeeded' }, log: 'late' }),
};

interface Described {
  readonly paths: Record<string, Record<string, unknown>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

/** With what it refers to. */
const written = ({ components }: Described, part: unknown): string =>
  JSON.stringify(part ?? {}).replaceAll(/"#\/components\/schemas\/([^"]+)"/g, (_, name: string) =>
    JSON.stringify(components.schemas[name]),
  );

test('every route that names job and attempt has its case', async () => {
  const described = (await (await api.request('GET', '/openapi.json')).json()) as Described;
  const names = ['runner', 'job', 'attempt'].map((name) => `"${name}"`);
  const fenced = Object.entries(described.paths).filter(([path, { post }]) => {
    const body = written(described, (post as { requestBody?: unknown } | undefined)?.requestBody);
    return path.startsWith('/v1/runner/') && names.every((name) => body.includes(name));
  });
  expect(fenced.map(([path]) => path).sort()).toEqual(Object.keys(late).sort());
});

/** Every row of the job, in every table that has rows of jobs. */
async function everything(job: string): Promise<Record<string, unknown>> {
  const { sql } = api.database;
  const tables = await sql`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'job_id' order by 1`;
  expect(tables.length).toBeGreaterThan(7);
  const rows: Record<string, unknown> = { jobs: await sql`select * from jobs where id = ${job}` };
  for (const { name } of tables)
    rows[name as string] =
      await sql`select t::text as row from ${sql(name as string)} t where job_id = ${job} order by 1`;
  return JSON.parse(JSON.stringify(rows)) as Record<string, unknown>;
}

const log = pino({ enabled: false });
const client = () => api.client();

/** A day passes for the lease and the back-off of a job; then the clock does its work. */
async function passTime(job: string): Promise<void> {
  await api.database.sql`
    update jobs set lease_expires_at = lease_expires_at - interval '1 day', available_at = available_at - interval '1 day'
    where id = ${job}`;
  await tick(api.database.db, log, createMetrics());
  await api.database.sql`update jobs set available_at = available_at - interval '1 day' where id = ${job}`;
}

/** The first runner claims, learns a little, and is not heard of for a day. */
async function silentFirst(
  before: (job: string) => Promise<unknown> = async () => undefined,
): Promise<Fenced> {
  await client().createJob(spec({ priority: 100 }));
  const { fence } = await claimOne(client(), 'first');
  const { runner } = client();
  await runner.report({ ...fence, sequence: 1, entries: [stepOf(1), sampled(fence)], log: 'begun' });
  await runner.checkpoint({ ...fence, checkpoint: commitOf(fence, 1, 'stage_end') });
  await runner.heartbeat({ ...fence, progress: progressAt(1) });
  await before(fence.job);
  await passTime(fence.job);
  return fence;
}

const second = async (name = 'second'): Promise<Fenced> => (await claimOne(client(), name)).fence;
const runner = () => client().runner;

/** What happened since the lease of the first ran out; the job is the one it held. */
const since: Record<string, (job: string) => Promise<unknown>> = {
  'nothing: the job is queued again': async () => undefined,
  'the second has just claimed': () => second(),
  'the second beats': async () => runner().heartbeat({ ...(await second()), progress: progressAt(1) }),
  'the second has reported': async () =>
    runner().report({ ...(await second()), sequence: 1, entries: [stepOf(2)], log: 'mine' }),
  'the second has committed a checkpoint': async () => {
    const fence = await second();
    await runner().checkpoint({ ...fence, checkpoint: commitOf(fence, 2) });
  },
  'the second has asked for the end of a stage': async () =>
    runner().stageEnd({ ...(await second()), stage_index: 0 }),
  'the second has finished': async () =>
    runner().finish({ ...(await second()), outcome: { type: 'succeeded' } }),
  'the second has failed for good': async () =>
    runner().finish({
      ...(await second()),
      outcome: { type: 'failed', reason: 'diverged', message: 'the loss is not finite' },
    }),
  'the second has failed, and the job is queued again': async () =>
    runner().finish({
      ...(await second()),
      outcome: { type: 'failed', reason: 'trainer_crashed', message: 'signal 11' },
    }),
  'the lease of the second ran out as well': async (job) => {
    await second();
    await passTime(job);
  },
  'the first itself has claimed again': () => second('first'),
  'a third holds it after the second': async (job) => {
    await second();
    await passTime(job);
    await second('third');
  },
  'cancelled in the queue': (job) => client().cancelJob(job),
  'paused in the queue': (job) => client().pauseJob(job),
  'paused and resumed in the queue': async (job) => {
    await client().pauseJob(job);
    await client().resumeJob(job);
  },
  'a cancel waits for the second': async (job) => {
    await second();
    await client().cancelJob(job);
  },
  'the second has heeded a cancel': async (job) => {
    const fence = await second();
    await client().cancelJob(job);
    await runner().finish({ ...fence, outcome: { type: 'cancelled' } });
  },
  'a pause waits for the second': async (job) => {
    await second();
    await client().pauseJob(job);
  },
  'the second has heeded a pause': async (job) => {
    const fence = await second();
    await client().pauseJob(job);
    await runner().finish({ ...fence, outcome: { type: 'paused' } });
  },
};

async function expectDeaf(fence: Fenced): Promise<void> {
  for (const [path, bodyOf] of Object.entries(late)) {
    const before = await everything(fence.job);
    const response = await api.request('POST', path, { json: bodyOf(fence), key: api.keys.runner });
    expect([path, response.status, ((await response.json()) as Problem).code]).toEqual([
      path,
      409,
      'lease_lost',
    ]);
    expect(await everything(fence.job), path).toEqual(before);
  }
}

/** Nothing stays in the queue for the next case. */
async function clear(job: string): Promise<void> {
  await client()
    .cancelJob(job)
    .catch(() => undefined);
  await passTime(job);
}

describe('what the late runner says is not heard', () => {
  test.each(Object.entries(since))('%s', async (_what, happen) => {
    const fence = await silentFirst();
    await happen(fence.job);
    await expectDeaf(fence);
    await clear(fence.job);
  });
});

/** What was asked while the first still held the job, and its runner did not live to hear. */
const asked: Record<string, (job: string) => Promise<unknown>> = {
  'a cancel: the job is cancelled': (job) => client().cancelJob(job),
  'a pause: the job is paused': (job) => client().pauseJob(job),
  'a pause, then a resume: the second holds it': async (job) => {
    await client().pauseJob(job);
    await passTime(job);
    await client().resumeJob(job);
    await second();
  },
};

describe('nor where something was asked of it', () => {
  test.each(Object.entries(asked))('%s', async (_what, ask) => {
    const fence = await silentFirst(ask);
    await expectDeaf(fence);
    await clear(fence.job);
  });
});

test('the runner that holds the job passes each of them', async () => {
  const first = await silentFirst();
  const fence = await second();
  for (const [path, bodyOf] of Object.entries(late)) {
    const before = await everything(first.job);
    const response = await api.request('POST', path, { json: bodyOf(fence), key: api.keys.runner });
    expect([path, response.status]).toEqual([path, 200]);
    if (path !== '/v1/runner/stage-ends') expect(await everything(first.job), path).not.toEqual(before);
  }
});
