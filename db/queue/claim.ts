// A runner asks for work: the free job with the smallest ordering key that fits it. Callers never wait for
// each other: rows that another claim has locked are skipped.
import { and, asc, eq, inArray, lte, notExists, sql } from 'drizzle-orm';
import { rewardModelsOf, teachersOf } from '../../api/contract/expand.ts';
import type { Database } from '../connect.ts';
import { appendEvents } from '../events/append.ts';
import { storableJson } from '../json.ts';
import { touchRunner } from '../runners.ts';
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
import { leaseEnd, thisMoment } from './fence.ts';

export interface ClaimOptions {
  projectId: string;
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
  return await db.transaction(async (tx) => {
    const runner = await touchRunner(tx, options.projectId, options.runner);
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
  const free = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        eq(jobs.projectId, runner.projectId),
        eq(jobs.state, 'queued'),
        eq(jobs.accelerator, runner.accelerator),
        lte(jobs.minMemoryGb, runner.memoryGb),
        sql`${jobs.runnerLabels} <@ ${storableJson(runner.labels)}::jsonb`,
        sql`${jobs.languages} <@ ${sql.param(runner.languages, jobs.languages)}`,
        lte(jobs.availableAt, thisMoment),
        notExists(unreadyDatasets(tx)),
      ),
    )
    .orderBy(asc(jobs.orderingKey))
    .limit(1)
    .for('update', { skipLocked: true });
  const [job] = await tx
    .update(jobs)
    .set({
      state: 'running',
      attempt: sql`${jobs.attempt} + 1`,
      runnerId: runner.id,
      leaseExpiresAt: leaseEnd(leaseMs),
      reason: null,
      message: null,
      startedAt: sql`coalesce(${jobs.startedAt}, now())`,
    })
    // A scalar subquery is worked out once; `in (…)` could be run again for each row and lock more than one.
    .where(eq(jobs.id, sql`(${free})`))
    .returning();
  return job;
}

function unreadyDatasets(tx: Database) {
  return tx
    .select({ id: datasets.id })
    .from(datasets)
    .where(and(sql`${datasets.id} = any(${jobs.datasetIds})`, sql`${datasets.state} <> 'ready'`));
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
