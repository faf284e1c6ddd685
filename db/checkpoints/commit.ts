// The commit of a checkpoint, after its manifest lies in the store: a checkpoint without this row does not exist.
// Fenced, and idempotent by the prefix of its files.
import { and, eq, sql } from 'drizzle-orm';
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import type { Database } from '../connect.ts';
import { appendEvents } from '../events/append.ts';
import { newId } from '../ids.ts';
import { lockHeld, progressedNow, type Fence, type HeldJob, type LeaseLost } from '../queue/fence.ts';
import { attempts, checkpoints, jobs } from '../schema.ts';

export type Committed = { id: string; applied: boolean };

/**
 * `applied` is false for a resend. `conflict`: the prefix was committed before with another manifest.
 * Allowed while the job is cancelling: a cancel keeps the last checkpoint.
 */
export async function commitCheckpoint(
  db: Database,
  fence: Fence,
  commit: CheckpointCommit,
): Promise<Committed | 'conflict' | LeaseLost> {
  return await db.transaction(async (tx) => {
    const job = await lockHeld(tx, fence);
    if (job === 'lease_lost') return job;
    const id = await insertCheckpoint(tx, job, commit);
    if (id === undefined) return await formerCommit(tx, job, commit);
    await noteCheckpoint(tx, job, id, commit);
    return { id, applied: true };
  });
}

async function insertCheckpoint(
  tx: Database,
  job: HeldJob,
  commit: CheckpointCommit,
): Promise<string | undefined> {
  const { stage_index, manifest_sha256, ...same } = commit;
  const [row] = await tx
    .insert(checkpoints)
    .values({
      ...same,
      id: newId('ckpt'),
      jobId: job.id,
      projectId: job.projectId,
      attempt: job.attempt,
      stageIndex: stage_index,
      manifestSha256: manifest_sha256,
    })
    .onConflictDoNothing({ target: [checkpoints.jobId, checkpoints.prefix] })
    .returning({ id: checkpoints.id });
  return row?.id;
}

async function formerCommit(
  tx: Database,
  job: HeldJob,
  commit: CheckpointCommit,
): Promise<Committed | 'conflict'> {
  const [row] = await tx
    .select()
    .from(checkpoints)
    .where(and(eq(checkpoints.jobId, job.id), eq(checkpoints.prefix, commit.prefix)));
  if (row === undefined) throw new Error(`internal: checkpoint ${commit.prefix} of job ${job.id} vanished`);
  return row.manifestSha256 === commit.manifest_sha256 ? { id: row.id, applied: false } : 'conflict';
}

// A new checkpoint is progress: the count of attempts in vain starts again.
async function noteCheckpoint(
  tx: Database,
  job: HeldJob,
  id: string,
  commit: CheckpointCommit,
): Promise<void> {
  await tx
    .update(attempts)
    .set({ checkpoints: sql`${attempts.checkpoints} + 1` })
    .where(and(eq(attempts.jobId, job.id), eq(attempts.attempt, job.attempt)));
  await tx
    .update(jobs)
    .set({ lastCheckpointId: id, failuresWithoutCheckpoint: 0, progressedAt: progressedNow })
    .where(eq(jobs.id, job.id));
  const { stage, step } = commit;
  await appendEvents(tx, job.id, job.attempt, [{ type: 'checkpoint', checkpoint: id, stage, step }]);
}
