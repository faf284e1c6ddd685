// Pauses in every state, and what they race with.
import { describe, expect, test } from 'vitest';
import { jobStates, type JobState } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import { claimJob } from '../../db/queue/claim.ts';
import { expireLeases } from '../../db/queue/expire-leases.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { pauseJob } from '../../db/queue/pause.ts';
import { resumeJob } from '../../db/queue/resume.ts';
import { useDatabase } from '../support/postgres.ts';
import {
  backdate,
  bodiesOf,
  checkpointAt,
  claimAgain,
  insertJob,
  insertProject,
  insertRunner,
  jobRow,
  leaseMs,
  runningJob,
  seqsOf,
  upTo,
  type Running,
} from './support.ts';

const pg = useDatabase();
const paused: Outcome = { type: 'paused' };
const succeeded: Outcome = { type: 'succeeded' };
const crashed: Outcome = { type: 'failed', reason: 'trainer_crashed', message: 'signal SIGKILL' };

const finish = (running: Running, outcome: Outcome) =>
  finishAttempt(pg.db, { ...running.fence, outcome, log: '' });
const pause = ({ fence }: Running) => pauseJob(pg.db, fence.projectId, fence.job);

async function expectGapless(id: string): Promise<void> {
  const seqs = await seqsOf(pg.db, id);
  expect(seqs).toEqual(upTo(seqs.length));
}

const expected: Record<JobState, JobState | undefined> = {
  queued: 'paused',
  running: 'pausing',
  pausing: undefined,
  paused: undefined,
  cancelling: undefined,
  succeeded: undefined,
  failed: undefined,
  cancelled: undefined,
};

test.each(jobStates)('of a %s job', async (state) => {
  const projectId = await insertProject(pg.db);
  const id = await insertJob(pg.db, { projectId, state });
  expect(await pauseJob(pg.db, projectId, id)).toBe(expected[state]);
  expect((await jobRow(pg.db, id)).state).toBe(expected[state] ?? state);
});

test('of another project’s job is of no job at all', async () => {
  const id = await insertJob(pg.db, { projectId: await insertProject(pg.db) });
  expect(await pauseJob(pg.db, await insertProject(pg.db), id)).toBeUndefined();
  expect((await jobRow(pg.db, id)).state).toBe('queued');
});

test('rides on the heartbeat; a checkpoint is still taken; the end is no failure, and may be told twice', async () => {
  const running = await runningJob(pg.db);
  const { job } = running.fence;
  await pause(running);
  expect(await heartbeat(pg.db, { ...running.fence, leaseMs })).toBe('pause');
  const kept = checkpointAt(running.fence, 3);
  expect(await commitCheckpoint(pg.db, running.fence, kept)).toMatchObject({ applied: true });
  expect(await finish(running, paused)).toEqual({ state: 'paused' });
  expect(await finish(running, paused)).toEqual({ state: 'paused' });
  expect(await jobRow(pg.db, job)).toMatchObject({
    ...{ state: 'paused', reason: null, message: null, finishedAt: null },
    ...{ runnerId: null, leaseExpiresAt: null, failuresWithoutCheckpoint: 0 },
  });
  const bodies = await bodiesOf(pg.db, job);
  expect(bodies.map(({ type }) => type)).not.toContain('attempt_failed');
  await expectGapless(job);

  expect(await resumeJob(pg.db, running.fence.projectId, job)).toBe(true);
  const elsewhere = await insertRunner(pg.db, running.fence.projectId);
  const { claimed } = await claimAgain(pg.db, { projectId: running.fence.projectId, runner: elsewhere });
  expect(claimed.resume).toMatchObject({ step: 3 });
});

test('a job that waits for its next attempt is paused without its reason, and waits no longer once resumed', async () => {
  const running = await runningJob(pg.db);
  const { projectId, job } = running.fence;
  expect(await finish(running, crashed)).toEqual({ state: 'queued' });
  expect(await pause(running)).toBe('paused');
  expect(await jobRow(pg.db, job)).toMatchObject({ state: 'paused', reason: null, message: null });
  expect(await claimJob(pg.db, { projectId, runner: running.fence.runner, leaseMs })).toBeUndefined();
  await resumeJob(pg.db, projectId, job);
  expect((await claimAgain(pg.db, running.fence)).fence).toMatchObject({ job, attempt: 2 });
});

describe('what comes between', () => {
  test('a kill: the job is paused and says why its last attempt ended', async () => {
    const running = await runningJob(pg.db);
    await pause(running);
    expect(await finish(running, crashed)).toEqual({ state: 'paused' });
    expect(await jobRow(pg.db, running.fence.job)).toMatchObject({ reason: 'trainer_crashed' });
    await expectGapless(running.fence.job);
  });

  test('silence: the lease runs out, the job is paused, the runner’s late word changes nothing', async () => {
    const running = await runningJob(pg.db);
    const { job } = running.fence;
    await pause(running);
    await backdate(pg.db, job);
    expect(await expireLeases(pg.db)).toMatchObject([{ job, attempt: 1, state: 'paused' }]);
    expect(await finish(running, paused)).toBe('lease_lost');
    expect(await jobRow(pg.db, job)).toMatchObject({ state: 'paused', reason: 'lease_expired' });
    await expectGapless(job);
  });

  test('a claim at the same moment: the job is paused before it or by its runner, never both or neither', async () => {
    const projectId = await insertProject(pg.db);
    const runner = await insertRunner(pg.db, projectId);
    for (let round = 0; round < 20; round++) {
      const id = await insertJob(pg.db, { projectId });
      const [claimed, moved] = await Promise.all([
        claimJob(pg.db, { projectId, runner, leaseMs }),
        pauseJob(pg.db, projectId, id),
      ]);
      const { state } = await jobRow(pg.db, id);
      expect(state).toBe(moved);
      expect(state).toBe(claimed === undefined ? 'paused' : 'pausing');
      await expectGapless(id);
    }
  });

  test('the end at the same moment: one of them wins, the row says which', async () => {
    for (let round = 0; round < 20; round++) {
      const running = await runningJob(pg.db);
      const [, finished] = await Promise.all([pause(running), finish(running, succeeded)]);
      expect(finished).toEqual({ state: 'succeeded' });
      expect((await jobRow(pg.db, running.fence.job)).state).toBe('succeeded');
      await expectGapless(running.fence.job);
    }
  });

  test('a cancel at the same moment wins, whichever is first', async () => {
    for (let round = 0; round < 20; round++) {
      const running = await runningJob(pg.db);
      const { projectId, job } = running.fence;
      await Promise.all([pause(running), cancelJob(pg.db, projectId, job)]);
      expect((await jobRow(pg.db, job)).state).toBe('cancelling');
      expect(await finish(running, paused)).toEqual({ state: 'cancelled' });
      expect((await bodiesOf(pg.db, job)).map(({ type }) => type)).not.toContain('attempt_failed');
      await expectGapless(job);
    }
  });
});
