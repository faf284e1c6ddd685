// Clock work: an attempt ends when its job has run for its timeout, and when its runner beats but brings nothing. Time is moved by
// back-dating rows.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { createMetrics } from '../../api/metrics/metrics.ts';
import { tick } from '../../api/tick.ts';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import type { Fence } from '../../db/queue/fence.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { applyReport } from '../../db/reports/apply.ts';
import { useDatabase } from '../support/postgres.ts';
import { bodiesOf, checkpointAt, claimAgain, jobRow, leaseMs, runningJob } from './support.ts';

const pg = useDatabase();
const log = pino({ enabled: false });
const clock = () => tick(pg.db, log, createMetrics());
const progress = { stage: 'sft', stage_index: 0, stages: 1, step: 1, steps: 2 };
const beat = (fence: Fence, more: object = {}) => heartbeat(pg.db, { ...fence, ...more, leaseMs });

/** The attempt began, and was last seen to get on, so much earlier. */
async function pass({ job }: Fence, time: string): Promise<void> {
  await pg.sql`update jobs set progressed_at = progressed_at - ${time}::text::interval where id = ${job}`;
  await pg.sql`
    update attempts set started_at = started_at - ${time}::text::interval where job_id = ${job} and ended_at is null`;
}

test('a job that has run for its timeout fails, though its runner beats on', async () => {
  const { fence } = await runningJob(pg.db, { timeout: '2h', stall_timeout: '24h' });
  await pass(fence, '119 minutes');
  await clock();
  expect((await jobRow(pg.db, fence.job)).state).toBe('running');
  await pass(fence, '2 minutes');
  expect(await beat(fence)).toBe('continue');
  await clock();
  const row = await jobRow(pg.db, fence.job);
  expect(row).toMatchObject({ state: 'failed', reason: 'timeout', runnerId: null });
  expect(row.message).toContain('timeout of 2h');
  expect(await beat(fence)).toBe('lease_lost');
  expect(await finishAttempt(pg.db, { ...fence, outcome: { type: 'succeeded' }, log: '' })).toBe(
    'lease_lost',
  );
  expect(await bodiesOf(pg.db, fence.job)).toContainEqual(
    expect.objectContaining({ type: 'attempt_failed', reason: 'timeout', retry_at: null }),
  );
});

test('running time counts over all attempts, waiting does not', async () => {
  const { fence } = await runningJob(pg.db, { timeout: '2h', stall_timeout: '24h' });
  await pass(fence, '90 minutes');
  const crash = { type: 'failed', reason: 'trainer_crashed', message: 'signal 9' } as const;
  await finishAttempt(pg.db, { ...fence, outcome: crash, log: '' });
  expect((await jobRow(pg.db, fence.job)).ranMs).toBeGreaterThanOrEqual(90 * 60_000);
  await pg.sql`update jobs set available_at = now() - interval '5 hours' where id = ${fence.job}`;
  await clock();
  const { fence: second } = await claimAgain(pg.db, fence);
  await pass(second, '29 minutes');
  await clock();
  expect((await jobRow(pg.db, fence.job)).state).toBe('running');
  await pass(second, '2 minutes');
  await clock();
  expect(await jobRow(pg.db, fence.job)).toMatchObject({ state: 'failed', reason: 'timeout', attempt: 2 });
});

test('without a timeout a job may run for ever', async () => {
  const { fence } = await runningJob(pg.db, { stall_timeout: '576h' });
  await pass(fence, '23 days');
  await clock();
  expect((await jobRow(pg.db, fence.job)).state).toBe('running');
});

test('a cancel that comes before the timeout wins', async () => {
  const { fence } = await runningJob(pg.db, { timeout: '1h' });
  await pg.sql`update jobs set state = 'cancelling' where id = ${fence.job}`;
  await pass(fence, '2 hours');
  await clock();
  expect((await jobRow(pg.db, fence.job)).state).toBe('cancelled');
});

const stalls: Partial<JobSpecInput> = { stall_timeout: '10m' };

test('heartbeats that bring nothing end the attempt as stalled, a minute after the runner should have', async () => {
  const { fence } = await runningJob(pg.db, stalls);
  await beat(fence, { progress, signs: 7 });
  await pass(fence, '610 seconds');
  await beat(fence, { progress, signs: 7 });
  await clock();
  expect((await jobRow(pg.db, fence.job)).state).toBe('running');
  await pass(fence, '55 seconds');
  await beat(fence, { progress, signs: 7 });
  await clock();
  expect(await jobRow(pg.db, fence.job)).toMatchObject({ state: 'queued', reason: 'stalled' });
  expect(await beat(fence)).toBe('lease_lost');
});

const lively: Record<string, (fence: Fence) => Promise<unknown>> = {
  'other progress': (fence) => beat(fence, { progress: { ...progress, step: 2 }, signs: 7 }),
  'a further sign of life': (fence) => beat(fence, { progress, signs: 8 }),
  'a report': (fence) => applyReport(pg.db, { ...fence, sequence: 1, entries: [], log: 'still there\n' }),
  'a checkpoint': (fence) => commitCheckpoint(pg.db, fence, checkpointAt(fence, 1)),
};

test.each(Object.entries(lively))('%s is getting on', async (_what, live) => {
  const { fence } = await runningJob(pg.db, stalls);
  await beat(fence, { progress, signs: 7 });
  for (let n = 0; n < 2; n++) {
    await pass(fence, '11 minutes 30 seconds');
    if (n === 0) await live(fence);
    if (n === 0) await clock();
    expect((await jobRow(pg.db, fence.job)).state).toBe('running');
  }
  await clock();
  expect((await jobRow(pg.db, fence.job)).reason).toBe('stalled');
});

test('a report that is sent again is no getting on', async () => {
  const { fence } = await runningJob(pg.db, stalls);
  const report = { ...fence, sequence: 1, entries: [], log: 'x' };
  await applyReport(pg.db, report);
  await pass(fence, '12 minutes');
  expect(await applyReport(pg.db, report)).toEqual({ applied: false });
  await clock();
  expect((await jobRow(pg.db, fence.job)).reason).toBe('stalled');
});

test('one that stalls while pausing is paused, while cancelling cancelled', async () => {
  for (const [asked, state] of [
    ['pausing', 'paused'],
    ['cancelling', 'cancelled'],
  ] as const) {
    const { fence } = await runningJob(pg.db, stalls);
    await pg.sql`update jobs set state = ${asked} where id = ${fence.job}`;
    await pass(fence, '12 minutes');
    await clock();
    expect((await jobRow(pg.db, fence.job)).state).toBe(state);
  }
});

test('attempts from before there was a watch are not ended by it', async () => {
  const { fence } = await runningJob(pg.db, stalls);
  await pg.sql`update jobs set progressed_at = null where id = ${fence.job}`;
  await beat(fence, { progress: { ...progress, step: 2 } });
  await pass(fence, '12 hours');
  await clock();
  expect((await jobRow(pg.db, fence.job)).state).toBe('running');
});
