// Takes a job that has ended away, with all that it left: rows at once, objects by clock work.
import { and, asc, eq } from 'drizzle-orm';
import type { JobState } from '../../api/contract/job.ts';
import { isTerminal } from '../../api/contract/job.ts';
import { keepersOf } from '../checkpoints/remove.ts';
import type { Database } from '../connect.ts';
import { doomedObjects } from '../retention/table.ts';
import { checkpoints, jobs } from '../schema.ts';

/** Its state where it has not ended, who keeps it, or undefined if the project has no such job. */
export async function deleteJob(
  db: Database,
  projectId: string,
  id: string,
): Promise<{ deleted: true } | { live: JobState } | { keptBy: string[] } | undefined> {
  return await db.transaction(async (tx) => {
    const [job] = await tx
      .select({ state: jobs.state })
      .from(jobs)
      .where(and(eq(jobs.projectId, projectId), eq(jobs.id, id)))
      .for('update');
    if (job === undefined) return undefined;
    if (!isTerminal(job.state)) return { live: job.state };
    const held = await tx
      .select({ id: checkpoints.id })
      .from(checkpoints)
      .where(eq(checkpoints.jobId, id))
      .orderBy(asc(checkpoints.id))
      .for('update');
    const keptBy = await keepersOf(
      tx,
      held.map((one) => one.id),
      id,
    );
    if (keptBy.length > 0) return { keptBy };
    await tx.delete(jobs).where(eq(jobs.id, id));
    await tx.insert(doomedObjects).values({ prefix: `jobs/${id}/` });
    return { deleted: true };
  });
}
