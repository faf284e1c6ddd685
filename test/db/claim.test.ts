// Claims: each job once whatever races, in the stored order, only what fits the runner.
import { expect, test } from 'vitest';
import { eq } from 'drizzle-orm';
import { claimJob } from '../../db/queue/claim.ts';
import { insertJob as insertJobRow } from '../../db/jobs/insert.ts';
import { datasets, jobs } from '../../db/schema.ts';
import { useDatabase } from '../support/postgres.ts';
import {
  bodiesOf,
  claimAgain,
  insertJob,
  insertProject,
  insertRunner,
  jobRow,
  leaseMs,
  upTo,
} from './support.ts';

const pg = useDatabase();

test('20 claimers at once and 50 jobs: each job is claimed once', async () => {
  const projectId = await insertProject(pg.db);
  const ids = await Promise.all(upTo(50).map(() => insertJob(pg.db, { projectId })));
  const runners = await Promise.all(upTo(20).map(() => insertRunner(pg.db, projectId)));
  const claimed: string[] = [];
  const claimAll = async (runner: string): Promise<void> => {
    for (;;) {
      const one = await claimJob(pg.db, { projectId, runner, leaseMs });
      if (one === undefined || one === 'unknown_runner') return;
      claimed.push(one.job.id);
    }
  };
  await Promise.all(runners.map(claimAll));
  expect(claimed.toSorted()).toEqual(ids.toSorted());
  const rows = await pg.sql`select attempt from attempts where project_id = ${projectId}`;
  expect(rows.map((row) => row['attempt'] as number)).toEqual(ids.map(() => 1));
});

test('priority first, then arrival', async () => {
  const projectId = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, projectId);
  const low = await insertJob(pg.db, { projectId, spec: { priority: -1 } });
  const first = await insertJob(pg.db, { projectId });
  const second = await insertJob(pg.db, { projectId });
  const high = await insertJob(pg.db, { projectId, spec: { priority: 100 } });
  const order: string[] = [];
  for (let n = 0; n < 4; n++) order.push((await claimAgain(pg.db, { projectId, runner })).fence.job);
  expect(order).toEqual([high, first, second, low]);
});

test('a claim writes attempt, lease, and both events', async () => {
  const projectId = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, projectId);
  const id = await insertJob(pg.db, { projectId });
  const { claimed } = await claimAgain(pg.db, { projectId, runner });
  expect(claimed.job).toMatchObject({ id, state: 'running', attempt: 1, runnerId: runner, eventSeq: 2 });
  expect(claimed.job.leaseExpiresAt?.getTime()).toBeGreaterThan(Date.now());
  expect(claimed.datasets.map((row) => row.id)).toEqual(claimed.job.datasetIds);
  expect(await bodiesOf(pg.db, id)).toEqual([
    { type: 'state', from: null, to: 'queued', reason: null, message: null },
    { type: 'state', from: 'queued', to: 'running', reason: null, message: null },
    { type: 'attempt_started', runner, resumed_from: null },
  ]);
});

const needs = {
  accelerator: { accelerator: 'cuda' as const },
  memory: { accelerator: 'cpu' as const, min_memory_gb: 64 },
  label: { accelerator: 'cpu' as const, runner_labels: { zone: 'b' } },
};

test.each(Object.entries(needs))('a runner that lacks the %s gets nothing', async (_what, resources) => {
  const projectId = await insertProject(pg.db);
  const small = await insertRunner(pg.db, projectId, { memory_gb: 8, labels: { zone: 'a' } });
  const id = await insertJob(pg.db, { projectId, spec: { resources } });
  expect(await claimJob(pg.db, { projectId, runner: small, leaseMs })).toBeUndefined();
  const fitting = await insertRunner(pg.db, projectId, {
    accelerator: resources.accelerator,
    memory_gb: 64,
    labels: { zone: 'b', more: 'x' },
  });
  expect((await claimAgain(pg.db, { projectId, runner: fitting })).fence.job).toBe(id);
});

test('a job waits for its datasets and for its back-off', async () => {
  const projectId = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, projectId);
  const first = await jobRow(pg.db, await insertJob(pg.db, { projectId, state: 'cancelled' }));
  const dataset = first.datasetIds[0] as string;
  await pg.db.update(datasets).set({ state: 'validating' }).where(eq(datasets.id, dataset));
  const { id } = await insertJobRow(pg.db, { projectId, spec: first.spec, expanded: first.expanded });
  expect(await claimJob(pg.db, { projectId, runner, leaseMs })).toBeUndefined();
  await pg.db.update(datasets).set({ state: 'ready' }).where(eq(datasets.id, dataset));
  await pg.sql`update jobs set available_at = now() + interval '1 hour' where id = ${id}`;
  expect(await claimJob(pg.db, { projectId, runner, leaseMs })).toBeUndefined();
  await pg.sql`update jobs set available_at = now() - interval '1 hour' where id = ${id}`;
  expect((await claimAgain(pg.db, { projectId, runner })).fence.job).toBe(id);
});

test('a runner of another project sees nothing, and an unknown one is told so', async () => {
  const projectId = await insertProject(pg.db);
  await insertJob(pg.db, { projectId });
  const other = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, other);
  expect(await claimJob(pg.db, { projectId: other, runner, leaseMs })).toBeUndefined();
  expect(await claimJob(pg.db, { projectId, runner, leaseMs })).toBe('unknown_runner');
});

test('a claim that aborts leaves the job free and its events without a gap', async () => {
  const projectId = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, projectId);
  const id = await insertJob(pg.db, { projectId });
  const cut = new Error('connection lost');
  const aborted = pg.db.transaction(async (tx) => {
    await claimJob(tx, { projectId, runner, leaseMs });
    throw cut;
  });
  await expect(aborted).rejects.toBe(cut);
  expect(await jobRow(pg.db, id)).toMatchObject({ state: 'queued', attempt: 0, eventSeq: 1 });
  expect((await claimAgain(pg.db, { projectId, runner })).fence.attempt).toBe(1);
});

test('the row keeps the posted and the expanded spec', async () => {
  const projectId = await insertProject(pg.db);
  const row = await jobRow(pg.db, await insertJob(pg.db, { projectId, spec: { labels: { team: 'a' } } }));
  expect(row.spec).not.toHaveProperty('priority');
  expect(row.expanded).toMatchObject({ priority: 0, max_attempts: 3, stages: [{ name: 'sft' }] });
  expect(row.labels).toEqual({ team: 'a' });
  const again = await insertJobRow(pg.db, { projectId, spec: row.spec, expanded: row.expanded });
  expect(again.orderingKey).toBeGreaterThan(row.orderingKey);
  await pg.db.delete(jobs).where(eq(jobs.id, again.id));
});
