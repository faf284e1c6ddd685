// A database that was brought back from a back-up knows less than the world: runners hold attempts that it has never
// counted, and objects lie under their numbers. These statements take every job out of those hands (decision 0028).
import { and, asc, desc, eq, gt, inArray, ne, sql } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { errands } from './errands/table.ts';
import { endAttempt } from './queue/end-attempt.ts';
import type { HeldJob } from './queue/fence.ts';
import type { CheckpointRow } from './schema.ts';
import { checkpoints, datasets, jobs } from './schema.ts';
import { heldStates, liveStates } from './states.ts';

/** More attempts than a job makes between a back-up and the day that it is needed. */
export const attemptsSkipped = 1_000;

/** Every held job goes back to the queue, or where it was going, without a failure; each in a transaction of its own. */
export async function releaseHeldJobs(db: Database): Promise<string[]> {
  const released: string[] = [];
  for (;;) {
    const id = await releaseOne(db);
    if (id === undefined) return released;
    released.push(id);
  }
}

async function releaseOne(db: Database): Promise<string | undefined> {
  return await db.transaction(async (tx) => {
    const [job] = await tx
      .select()
      .from(jobs)
      .where(inArray(jobs.state, [...heldStates]))
      .orderBy(asc(jobs.id))
      .limit(1)
      .for('update');
    if (job === undefined) return undefined;
    await endAttempt(tx, job as HeldJob, { type: 'released' });
    return job.id;
  });
}

/** The next attempt of each live job has a number, and so object keys, that nobody has used. How many jobs. */
export async function skipAttempts(db: Database): Promise<number> {
  const rows = await db
    .update(jobs)
    .set({ attempt: sql`${jobs.attempt} + ${attemptsSkipped}` })
    .where(inArray(jobs.state, [...liveStates]))
    .returning({ id: jobs.id });
  return rows.length;
}

/** The same of errands, which are taken from whoever has them. How many. */
export async function requeueErrands(db: Database): Promise<number> {
  const rows = await db
    .update(errands)
    .set({
      state: 'queued',
      attempt: sql`${errands.attempt} + ${attemptsSkipped}`,
      runnerId: null,
      leaseExpiresAt: null,
    })
    .where(inArray(errands.state, ['queued', 'running']))
    .returning({ id: errands.id });
  return rows.length;
}

/** Datasets whose rows should lie in the store, after `after` in the order of their ids. */
export async function storedDatasets(db: Database, after: string, limit: number) {
  return await db
    .select({ id: datasets.id, key: datasets.key })
    .from(datasets)
    .where(and(ne(datasets.state, 'invalid'), gt(datasets.id, after)))
    .orderBy(asc(datasets.id))
    .limit(limit);
}

/** Committed checkpoints, after `after` in the order of their ids. */
export async function storedCheckpoints(db: Database, after: string, limit: number) {
  return await db
    .select({ id: checkpoints.id, prefix: checkpoints.prefix })
    .from(checkpoints)
    .where(gt(checkpoints.id, after))
    .orderBy(asc(checkpoints.id))
    .limit(limit);
}

/** Live jobs that would go on from one of these checkpoints. */
export async function jobsGoingOnFrom(db: Database, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await db
    .select({ id: jobs.id, lastCheckpointId: jobs.lastCheckpointId })
    .from(jobs)
    .where(and(inArray(jobs.state, [...liveStates]), inArray(jobs.lastCheckpointId, [...ids])));
}

/** Newest first. */
export async function checkpointsOf(db: Database, job: string): Promise<CheckpointRow[]> {
  return await db
    .select()
    .from(checkpoints)
    .where(eq(checkpoints.jobId, job))
    .orderBy(desc(checkpoints.createdAt), desc(checkpoints.id));
}

/** The job goes on from another of its checkpoints, null: from the beginning. */
export async function goOnFrom(db: Database, job: string, checkpoint: string | null): Promise<void> {
  await db
    .update(jobs)
    .set({ lastCheckpointId: checkpoint })
    .where(and(eq(jobs.id, job), inArray(jobs.state, [...liveStates])));
}
