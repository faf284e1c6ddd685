// Jobs that need others: they are not claimed before, they fail with them, and no race between posting and ending loses one.
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { ApiError } from '../../api/client.ts';
import type { JobDetail } from '../../api/contract/job.ts';
import { insertJob } from '../../db/jobs/insert.ts';
import { lockNeeds } from '../../db/jobs/needs.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import { jobRow } from '../db/support.ts';
import type { Fenced } from './support.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));

const client = () => api.client();
const post = (needs: readonly string[] = [], more: Record<string, unknown> = {}): Promise<JobDetail> =>
  client().createJob(spec({ ...(needs.length > 0 && { needs }), ...more }));
const row = (id: string) => jobRow(api.database.db, id);

/** A job of the highest priority, brought to its end by a runner. */
async function ended(outcome: 'succeeded' | 'failed'): Promise<string> {
  const { id } = await post([], { priority: 100 });
  await end(id, outcome);
  return id;
}

async function end(id: string, outcome: 'succeeded' | 'failed'): Promise<void> {
  const { fence } = await claimOne(client());
  expect(fence.job).toBe(id);
  await finish(fence, outcome);
}

async function finish(fence: Fenced, outcome: 'succeeded' | 'failed'): Promise<void> {
  const failure = { type: 'failed', reason: 'diverged', message: 'the loss is not finite' } as const;
  await client().runner.finish({ ...fence, outcome: outcome === 'succeeded' ? { type: outcome } : failure });
}

const issuesOf = async (posting: Promise<unknown>) => {
  const error = await posting.then(
    () => undefined,
    (refused: unknown) => refused,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).status).toBe(422);
  return (error as ApiError).issues;
};

async function nothingLeft(): Promise<void> {
  for (const state of ['queued', 'paused', 'running'])
    for await (const { id } of client().all((query) => client().jobs({ ...query, state })))
      await client().cancelJob(id);
}

test('a job is claimed only after all that it needs have succeeded', async () => {
  const [a, b] = [await post([], { priority: 100 }), await post([], { priority: 99 })];
  const { id } = await post([a.id, b.id], { priority: 90 });
  expect((await client().job(id)).expanded.needs).toEqual([a.id, b.id]);
  await end(a.id, 'succeeded');
  expect((await row(id)).unmetNeeds).toBe(1);
  const { fence, runner } = await claimOne(client());
  expect(fence.job).toBe(b.id);
  expect((await client().runner.claim({ runner })).claim).toBeNull();
  await client().runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  expect((await client().runner.claim({ runner })).claim?.job).toBe(id);
  await nothingLeft();
});

test.each(['failed', 'cancelled'] as const)(
  'what needs a job that ends as %s fails with it, and so on down the line, in one transaction',
  async (how) => {
    const first = await post([], { priority: 100 });
    const chain = [first.id];
    for (let n = 0; n < 3; n++) chain.push((await post([chain.at(-1)!])).id);
    const other = await post();
    const both = await post([other.id, chain[1]!]);
    await client().pauseJob(chain[2]!);
    if (how === 'failed') await end(first.id, 'failed');
    else await client().cancelJob(first.id);
    for (const id of [...chain.slice(1), both.id]) {
      const job = await client().job(id);
      expect(job).toMatchObject({ state: 'failed', reason: 'dependency_failed', attempt: 0 });
      expect(job.message).toContain(
        `job ${first.id}, which it needs (by itself or through others), ended as ${how}`,
      );
      expect(job.finished_at).not.toBeNull();
      const { data } = await client().eventsPage(id);
      expect(data.at(-1)?.body).toMatchObject({ to: 'failed', reason: 'dependency_failed' });
    }
    expect((await client().job(other.id)).state).toBe('queued');
    const moments = await api.database.sql`
      select distinct finished_at from jobs where id in ${api.database.sql([both.id, ...chain] as [string, ...string[]])}`;
    expect(moments).toHaveLength(1);
    await nothingLeft();
  },
);

test('a line of 300 jobs falls at once', async () => {
  const [first] = [await post()];
  const template = await row(first.id);
  let last = first.id;
  for (let n = 0; n < 300; n++) {
    const { projectId, spec: posted, expanded } = template;
    const needs = { projectId, spec: posted, expanded, unmetNeeds: [last] };
    last = (await insertJob(api.database.db, needs)).id;
  }
  await client().cancelJob(first.id);
  expect((await row(last)).state).toBe('failed');
});

test('needs are jobs of the project that may yet succeed', async () => {
  const done = await ended('succeeded');
  const lost = await ended('failed');
  const stranger = await api.request('GET', `/v1/jobs/${done}`, { key: api.strangerKey });
  expect(stranger.status).toBe(404);
  const nobody = 'job_00000000000000000000000000';
  const job = await post([done], { priority: 100 });
  expect((await row(job.id)).unmetNeeds).toBe(0);
  await end(job.id, 'succeeded');
  expect(await issuesOf(post([done, nobody, lost]))).toMatchObject([
    { pointer: '/needs/1', message: `there is no job ${nobody}` },
    { pointer: '/needs/2', message: expect.stringContaining(`job ${lost} is failed`) as string },
  ]);
  expect(await issuesOf(post(['digits']))).toMatchObject([{ pointer: '/needs/0' }]);
  expect(await issuesOf(post(Array.from({ length: 101 }, () => done)))).toMatchObject([
    { pointer: '/needs' },
  ]);
});

/** Until something waits for a lock. */
async function untilBlocked(): Promise<void> {
  for (;;) {
    const [waiting] = await api.database.sql`
      select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    if ((waiting?.['n'] as number) > 0) return;
    await delay(5);
  }
}

test('a job that ends while another is being posted upon it waits for that one, and settles it', async () => {
  const { db } = api.database;
  const needed = await post();
  const { projectId, spec: posted, expanded } = await row(needed.id);
  let cancelled: Promise<unknown> | undefined;
  const dependent = await db.transaction(async (tx) => {
    const needs = await lockNeeds(tx, projectId, [needed.id]);
    expect(needs).toEqual([{ id: needed.id, state: 'queued' }]);
    cancelled = cancelJob(db, projectId, needed.id);
    await untilBlocked();
    return await insertJob(tx, { projectId, spec: posted, expanded, unmetNeeds: [needed.id] });
  });
  await cancelled;
  expect(await row(dependent.id)).toMatchObject({ state: 'failed', reason: 'dependency_failed' });
});

test('a job that is posted upon one that is ending waits for the end, and sees it', async () => {
  const { db } = api.database;
  const needed = await post();
  const { projectId } = await row(needed.id);
  let posting: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await cancelJob(tx, projectId, needed.id);
    posting = issuesOf(post([needed.id]));
    await untilBlocked();
  });
  expect(await posting).toMatchObject([{ pointer: '/needs/0' }]);
});

test('posted by the dozen while what they need ends: each is refused or settled', async () => {
  for (const how of ['succeeded', 'failed'] as const) {
    const needed = await post([], { priority: 100 });
    const { fence } = await claimOne(client());
    const postings = Array.from({ length: 24 }, () => post([needed.id]).catch((error: unknown) => error));
    const [, ...results] = await Promise.all([finish(fence, how), ...postings]);
    const rows = await Promise.all(
      results.filter((one) => !(one instanceof ApiError)).map((one) => row((one as JobDetail).id)),
    );
    for (const one of rows)
      expect(one).toMatchObject(how === 'failed' ? { reason: 'dependency_failed' } : { unmetNeeds: 0 });
    if (how === 'succeeded') expect(rows).toHaveLength(24);
    await nothingLeft();
  }
});

test('two needs that end at the same moment are both counted, and several dependents cause no deadlock', async () => {
  const [a, b] = [await post([], { priority: 100 }), await post([], { priority: 100 })];
  const dependents = await Promise.all(Array.from({ length: 10 }, () => post([a.id, b.id])));
  const fences = [(await claimOne(client(), 'x')).fence, (await claimOne(client(), 'y')).fence];
  await Promise.all(
    fences.map((fence) => client().runner.finish({ ...fence, outcome: { type: 'succeeded' } })),
  );
  for (const { id } of dependents) expect((await row(id)).unmetNeeds).toBe(0);
  await nothingLeft();
});
