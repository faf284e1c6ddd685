// Committed ends of stages: what another job learns from, and what an attempt of the same job does. A retry or fork has the ends of
// the job before it as well, up to the stage that it began in.
import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { holds, type Fence, type LeaseLost } from '../queue/fence.ts';
import { checkpoints, jobs, type CheckpointRow } from '../schema.ts';

const isEnd = inArray(checkpoints.kind, ['stage_end', 'final']);

/** Of a job of the project, in the order of its stages: of each stage the newest, its own before those of the job before it. */
export async function listStageEnds(
  db: Database,
  projectId: string,
  jobId: string,
): Promise<CheckpointRow[]> {
  const rows = await db
    .selectDistinctOn([checkpoints.stageIndex], { end: checkpoints })
    .from(checkpoints)
    .innerJoin(
      lineOf(jobId),
      sql`line.job_id = ${checkpoints.jobId} and (line.to_stage is null or ${checkpoints.stageIndex} <= line.to_stage)`,
    )
    .where(and(eq(checkpoints.projectId, projectId), isEnd))
    .orderBy(checkpoints.stageIndex, sql`line.depth`, desc(checkpoints.attempt), desc(checkpoints.id));
  return rows.map(({ end }) => end);
}

/** The job, the one that it began from, and so on; `to_stage`: how far the ends of each are its own too. */
const lineOf = (jobId: string) => sql`(
  with recursive line (job_id, depth, to_stage) as (
    select ${jobId}::text, 0, null::integer
    union all
    select coalesce(jobs.retry_of, jobs.fork_of), line.depth + 1, least(line.to_stage, began.stage_index)
    from line join jobs on jobs.id = line.job_id join checkpoints as began on began.id = jobs.began_from
  ) select * from line
) as line`;

/** Of the attempt's own job, the newest of the stage; undefined where none is committed. */
export async function heldStageEnd(
  db: Database,
  fence: Fence,
  stageIndex: number,
): Promise<CheckpointRow | undefined | LeaseLost> {
  const [held] = await db.select({ projectId: jobs.projectId }).from(jobs).where(holds(fence));
  if (held === undefined) return 'lease_lost';
  const ends = await listStageEnds(db, held.projectId, fence.job);
  return ends.find((end) => end.stageIndex === stageIndex);
}
