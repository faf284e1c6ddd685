// Committed ends of stages: what another job learns from, and what an attempt of the same job does.
import { and, desc, eq, inArray } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { holds, type Fence, type LeaseLost } from '../queue/fence.ts';
import { checkpoints, jobs, type CheckpointRow } from '../schema.ts';

const isEnd = inArray(checkpoints.kind, ['stage_end', 'final']);
const newestFirst = [desc(checkpoints.attempt), desc(checkpoints.id)];

/** Of a job of the project, in the order of its stages: of each stage the newest. */
export async function listStageEnds(
  db: Database,
  projectId: string,
  jobId: string,
): Promise<CheckpointRow[]> {
  return await db
    .selectDistinctOn([checkpoints.stageIndex])
    .from(checkpoints)
    .where(and(eq(checkpoints.projectId, projectId), eq(checkpoints.jobId, jobId), isEnd))
    .orderBy(checkpoints.stageIndex, ...newestFirst);
}

/** Of the attempt's own job, the newest of the stage; undefined where none is committed. */
export async function heldStageEnd(
  db: Database,
  fence: Fence,
  stageIndex: number,
): Promise<CheckpointRow | undefined | LeaseLost> {
  const ofStage = and(eq(checkpoints.jobId, jobs.id), eq(checkpoints.stageIndex, stageIndex), isEnd);
  const [row] = await db
    .select({ job: jobs.id, end: checkpoints })
    .from(jobs)
    .leftJoin(checkpoints, ofStage)
    .where(holds(fence))
    .orderBy(...newestFirst)
    .limit(1);
  return row === undefined ? 'lease_lost' : (row.end ?? undefined);
}
