// How attempts end: outcomes, retries with back-off, expired leases, cancels in every state.
import { describe, expect, test } from 'vitest';
import { jobStates, type JobState } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { retryDelay } from '../../db/queue/after-attempt.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import { expireLeases } from '../../db/queue/expire-leases.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { useDatabase } from '../support/postgres.ts';
import {
  backdate,
  bodiesOf,
  checkpointAt,
  claimAgain,
  insertJob,
  insertProject,
  jobRow,
  leaseMs,
  runningJob,
  seqsOf,
  upTo,
  type Running,
} from './support.ts';

const pg = useDatabase();
const succeeded: Outcome = { type: 'succeeded' };
const crashed: Outcome = { type: 'failed', reason: 'trainer_crashed', message: 'trainer: signal 11' };

const finish = (running: Running, outcome: Outcome) =>
  finishAttempt(pg.db, { ...running.fence, outcome, log: '' });

async function expectGapless(id: string): Promise<void> {
  const seqs = await seqsOf(pg.db, id);
  expect(seqs).toEqual(upTo(seqs.length));
  expect((await jobRow(pg.db, id)).eventSeq).toBe(seqs.length);
}

describe('finish', () => {
  test('success ends the job, the terminal event is the last', async () => {
    const running = await runningJob(pg.db);
    expect(await finish(running, succeeded)).toEqual({ state: 'succeeded' });
    const row = await jobRow(pg.db, running.fence.job);
    expect(row).toMatchObject({ state: 'succeeded', reason: null, runnerId: null, leaseExpiresAt: null });
    expect(row.finishedAt).toBeInstanceOf(Date);
    expect((await bodiesOf(pg.db, running.fence.job)).at(-1)).toMatchObject({
      type: 'state',
      to: 'succeeded',
    });
    await expectGapless(running.fence.job);
  });

  test('a resend of the same word gets the same answer and changes nothing', async () => {
    const running = await runningJob(pg.db);
    await finish(running, crashed);
    const before = await seqsOf(pg.db, running.fence.job);
    expect(await finish(running, crashed)).toEqual({ state: 'queued' });
    expect(await finish(running, succeeded)).toBe('lease_lost');
    expect(await finish(running, { ...crashed, reason: 'stalled' })).toBe('lease_lost');
    expect(await seqsOf(pg.db, running.fence.job)).toEqual(before);
  });

  test('a permanent reason fails at once', async () => {
    const running = await runningJob(pg.db);
    const outcome: Outcome = { type: 'failed', reason: 'invalid_data', message: 'row 7: no prompt' };
    expect(await finish(running, outcome)).toEqual({ state: 'failed' });
    expect(await jobRow(pg.db, running.fence.job)).toMatchObject({
      reason: 'invalid_data',
      message: 'row 7: no prompt',
    });
    expect((await bodiesOf(pg.db, running.fence.job)).slice(-2)).toMatchObject([
      { type: 'attempt_failed', reason: 'invalid_data', retry_at: null },
      { type: 'state', from: 'running', to: 'failed', reason: 'invalid_data' },
    ]);
  });

  test('a transient reason is retried with growing back-off, and fails after max_attempts', async () => {
    let running = await runningJob(pg.db, { max_attempts: 3 });
    const id = running.fence.job;
    for (const attempt of [1, 2]) {
      expect(running.fence.attempt).toBe(attempt);
      expect(await finish(running, crashed)).toEqual({ state: 'queued' });
      const { availableAt, message } = await jobRow(pg.db, id);
      const [ended] =
        await pg.sql`select ended_at from attempts where job_id = ${id} and attempt = ${attempt}`;
      const waits = availableAt.getTime() - new Date(ended?.['ended_at'] as string).getTime();
      expect(waits).toBe(retryDelay.firstMs * 2 ** (attempt - 1));
      expect(message).toBe('trainer: signal 11');
      expect((await bodiesOf(pg.db, id)).at(-2)).toMatchObject({ retry_at: availableAt.toISOString() });
      await backdate(pg.db, id);
      running = await claimAgain(pg.db, running.fence);
    }
    expect(await finish(running, crashed)).toEqual({ state: 'failed' });
    const row = await jobRow(pg.db, id);
    expect(row).toMatchObject({ state: 'failed', reason: 'trainer_crashed', failuresWithoutCheckpoint: 3 });
    expect(row.message).toContain('max_attempts is 3');
    await expectGapless(id);
  });

  test('a new checkpoint starts the count again, an old one does not', async () => {
    let running = await runningJob(pg.db, { max_attempts: 2 });
    const id = running.fence.job;
    await finish(running, crashed);
    await backdate(pg.db, id);
    running = await claimAgain(pg.db, running.fence);
    expect(await jobRow(pg.db, id)).toMatchObject({ failuresWithoutCheckpoint: 1 });
    await commitCheckpoint(pg.db, running.fence, checkpointAt(running.fence, 5));
    expect(await jobRow(pg.db, id)).toMatchObject({ failuresWithoutCheckpoint: 0 });
    expect(await finish(running, crashed)).toEqual({ state: 'queued' });
    expect(await jobRow(pg.db, id)).toMatchObject({ failuresWithoutCheckpoint: 0 });
    await backdate(pg.db, id);
    running = await claimAgain(pg.db, running.fence);
    expect(running.claimed.resume).toMatchObject({ step: 5 });
    expect(await finish(running, crashed)).toEqual({ state: 'queued' });
    await backdate(pg.db, id);
    running = await claimAgain(pg.db, running.fence);
    expect(await finish(running, crashed)).toEqual({ state: 'failed' });
  });

  test('a runner that cancels on its own has stopped: the job goes on elsewhere', async () => {
    const running = await runningJob(pg.db);
    expect(await finish(running, { type: 'cancelled' })).toEqual({ state: 'queued' });
    expect(await jobRow(pg.db, running.fence.job)).toMatchObject({ reason: 'runner_stopped' });
  });
});

describe('leases', () => {
  test('a lease that ran out sends the job back, once, whoever looks', async () => {
    const running = await runningJob(pg.db);
    const id = running.fence.job;
    expect(await expireLeases(pg.db)).toEqual([]);
    await backdate(pg.db, id);
    const found = await Promise.all(upTo(5).map(() => expireLeases(pg.db)));
    expect(found.flat()).toMatchObject([{ job: id, attempt: 1, state: 'queued' }]);
    expect(await jobRow(pg.db, id)).toMatchObject({ state: 'queued', reason: 'lease_expired' });
    await expectGapless(id);
  });

  test('a heartbeat before anyone looks keeps a lease that ran out', async () => {
    const running = await runningJob(pg.db);
    await backdate(pg.db, running.fence.job);
    expect(await heartbeat(pg.db, { ...running.fence, leaseMs })).toBe('continue');
    expect(await expireLeases(pg.db)).toEqual([]);
  });

  test('a lease that runs out while cancelling ends the job as cancelled', async () => {
    const running = await runningJob(pg.db);
    await cancelJob(pg.db, running.fence.projectId, running.fence.job);
    await backdate(pg.db, running.fence.job);
    expect(await expireLeases(pg.db)).toMatchObject([
      { job: running.fence.job, attempt: 1, state: 'cancelled' },
    ]);
    await expectGapless(running.fence.job);
  });
});

describe('cancel', () => {
  const expected: Record<JobState, JobState | undefined> = {
    queued: 'cancelled',
    paused: 'cancelled',
    running: 'cancelling',
    pausing: 'cancelling',
    cancelling: undefined,
    succeeded: undefined,
    failed: undefined,
    cancelled: undefined,
  };

  test.each(jobStates)('a %s job', async (state) => {
    const projectId = await insertProject(pg.db);
    const id = await insertJob(pg.db, { projectId, state });
    expect(await cancelJob(pg.db, projectId, id)).toBe(expected[state]);
    const row = await jobRow(pg.db, id);
    expect(row.state).toBe(expected[state] ?? state);
    if (expected[state] === 'cancelled') expect(row.finishedAt).toBeInstanceOf(Date);
  });

  test('of another project is no job at all', async () => {
    const id = await insertJob(pg.db, { projectId: await insertProject(pg.db) });
    expect(await cancelJob(pg.db, await insertProject(pg.db), id)).toBeUndefined();
    expect((await jobRow(pg.db, id)).state).toBe('queued');
  });

  test('rides on the heartbeat, and whatever the runner says then, the job is cancelled', async () => {
    for (const outcome of [{ type: 'cancelled' } as const, succeeded, crashed]) {
      const running = await runningJob(pg.db);
      expect(await heartbeat(pg.db, { ...running.fence, leaseMs })).toBe('continue');
      await cancelJob(pg.db, running.fence.projectId, running.fence.job);
      expect(await heartbeat(pg.db, { ...running.fence, leaseMs })).toBe('cancel');
      expect(await commitCheckpoint(pg.db, running.fence, checkpointAt(running.fence, 3))).toMatchObject({
        applied: true,
      });
      expect(await finish(running, outcome)).toEqual({ state: 'cancelled' });
      expect((await bodiesOf(pg.db, running.fence.job)).at(-1)).toMatchObject({
        from: 'cancelling',
        to: 'cancelled',
      });
      await expectGapless(running.fence.job);
    }
  });

  test('against a finish at the same moment: one of them wins, the row says which', async () => {
    for (let round = 0; round < 20; round++) {
      const running = await runningJob(pg.db);
      const { projectId, job } = running.fence;
      const [cancelled, finished] = await Promise.all([
        cancelJob(pg.db, projectId, job),
        finish(running, succeeded),
      ]);
      expect(finished).toEqual({ state: cancelled === undefined ? 'succeeded' : 'cancelled' });
      expect((await jobRow(pg.db, job)).state).toBe(cancelled === undefined ? 'succeeded' : 'cancelled');
      await expectGapless(job);
    }
  });
});

test('progress is kept by a heartbeat that brings none', async () => {
  const running = await runningJob(pg.db);
  const progress = { stage: 'sft', stage_index: 0, stages: 1, step: 3, steps: 9, reward: null, loss: 1.5 };
  await heartbeat(pg.db, { ...running.fence, progress, leaseMs });
  await heartbeat(pg.db, { ...running.fence, leaseMs });
  expect((await jobRow(pg.db, running.fence.job)).progress).toEqual(progress);
});
