// A runner asks for work: the free job with the smallest ordering key that fits it, of its project or, of a shared runner, of the
// project whose turn it is.
import { and, eq, inArray, sql } from 'drizzle-orm';
import { rewardModelsOf, teachersOf } from '../../api/contract/expand.ts';
import type { Database } from '../connect.ts';
import { appendEvents } from '../events/append.ts';
import { touchRunner, type RunnerKey } from '../runners.ts';
import {
  attempts,
  checkpoints,
  datasets,
  jobs,
  type CheckpointRow,
  type DatasetRow,
  type JobRow,
  type RunnerRow,
} from '../schema.ts';
import { noteServed, projectsInTurn } from './fair-share.ts';
import { leaseEnd } from './fence.ts';
import { lockFreeJob } from './free-job.ts';
import { hasRoom, hasRoomNow } from './room.ts';
import { wakeDelayed } from './wake-delayed.ts';

export interface ClaimOptions extends RunnerKey {
  runner: string;
  leaseMs: number;
}

/**
 * All that the attempt needs. `resume`: the job's last committed checkpoint; `init`: the one its spec starts from;
 * `rewardModels`: those its graders score with; `teachers`: those from outside the job.
 */
export interface ClaimedJob {
  job: JobRow;
  datasets: DatasetRow[];
  resume: CheckpointRow | undefined;
  init: CheckpointRow | undefined;
  rewardModels: CheckpointRow[];
  teachers: CheckpointRow[];
}

/** The claimed job with its new attempt; undefined if there is nothing for this runner. */
export async function claimJob(
  db: Database,
  options: ClaimOptions,
): Promise<ClaimedJob | 'unknown_runner' | undefined> {
  await wakeDelayed(db);
  return await db.transaction(async (tx) => {
    const runner = await touchRunner(tx, options, options.runner);
    if (runner === undefined) return 'unknown_runner';
    const job = await takeFreeJob(tx, runner, options.leaseMs);
    if (job === undefined) return undefined;
    await startAttempt(tx, job, runner.id);
    return {
      job,
      datasets: await tx.select().from(datasets).where(inArray(datasets.id, job.datasetIds)),
      resume: await checkpointById(tx, job, job.lastCheckpointId),
      init: await checkpointById(tx, job, initCheckpoint(job)),
      rewardModels: await checkpointsById(tx, job, rewardModelsOf(job.expanded)),
      teachers: await checkpointsById(tx, job, teachersOf(job.expanded).checkpoints),
    };
  });
}

async function takeFreeJob(tx: Database, runner: RunnerRow, leaseMs: number): Promise<JobRow | undefined> {
  if (runner.shared) return await takeInTurn(tx, runner, leaseMs);
  if (!(await hasRoom(tx, runner.projectId))) return undefined;
  const id = await lockFreeJob(tx, runner.projectId, runner);
  return id === undefined ? undefined : await takeJob(tx, id, runner.id, leaseMs);
}

async function takeInTurn(tx: Database, runner: RunnerRow, leaseMs: number): Promise<JobRow | undefined> {
  for (const { id: projectId, limited } of await projectsInTurn(tx, runner)) {
    if (limited && !(await hasRoomNow(tx, projectId))) continue;
    const id = await lockFreeJob(tx, projectId, runner);
    if (id === undefined) continue;
    await noteServed(tx, projectId);
    return await takeJob(tx, id, runner.id, leaseMs);
  }
  return undefined;
}

/** The job is locked, and free. */
async function takeJob(
  tx: Database,
  id: string,
  runner: string,
  leaseMs: number,
): Promise<JobRow | undefined> {
  const [job] = await tx
    .update(jobs)
    .set({
      state: 'running',
      attempt: sql`${jobs.attempt} + 1`,
      runnerId: runner,
      leaseExpiresAt: leaseEnd(leaseMs),
      progressedAt: sql`now()`,
      signs: 0,
      reason: null,
      message: null,
      startedAt: sql`coalesce(${jobs.startedAt}, now())`,
    })
    .where(and(eq(jobs.id, id), eq(jobs.state, 'queued')))
    .returning();
  return job;
}

async function startAttempt(tx: Database, job: JobRow, runner: string): Promise<void> {
  const resumedFrom = job.lastCheckpointId;
  await tx.insert(attempts).values({
    jobId: job.id,
    attempt: job.attempt,
    projectId: job.projectId,
    runnerId: runner,
    resumedFrom,
  });
  await appendEvents(tx, job.id, job.attempt, [
    { type: 'attempt_started', runner, resumed_from: resumedFrom },
  ]);
}

function initCheckpoint(job: JobRow): string | null {
  const { init } = job.expanded.model;
  return init.from === 'checkpoint' ? init.checkpoint : null;
}

async function checkpointsById(tx: Database, job: JobRow, ids: readonly string[]): Promise<CheckpointRow[]> {
  if (ids.length === 0) return [];
  const owned = and(eq(checkpoints.projectId, job.projectId), inArray(checkpoints.id, [...ids]));
  return await tx.select().from(checkpoints).where(owned);
}

async function checkpointById(
  tx: Database,
  job: JobRow,
  id: string | null,
): Promise<CheckpointRow | undefined> {
  if (id === null) return undefined;
  const owned = and(eq(checkpoints.projectId, job.projectId), eq(checkpoints.id, id));
  const [row] = await tx.select().from(checkpoints).where(owned);
  return row;
}
