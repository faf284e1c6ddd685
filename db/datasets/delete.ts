// Takes a dataset away, unless a job that has not ended names it.
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { errands } from '../errands/table.ts';
import { doomedObjects } from '../retention/table.ts';
import { datasets, jobs, type DatasetRow } from '../schema.ts';
import { liveStates } from '../states.ts';

/** The row that was deleted, the job that keeps it, or undefined if the project has no such dataset. */
export async function deleteDataset(
  db: Database,
  projectId: string,
  id: string,
): Promise<{ deleted: DatasetRow } | { usedBy: string } | undefined> {
  return await db.transaction(async (tx) => {
    // In the order in which the end of an errand takes these locks.
    await tx.select({ id: errands.id }).from(errands).where(eq(errands.datasetId, id)).for('update');
    const owned = and(eq(datasets.projectId, projectId), eq(datasets.id, id));
    const [row] = await tx.select().from(datasets).where(owned).for('update');
    if (row === undefined) return undefined;
    const [job] = await tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(
        and(
          eq(jobs.projectId, projectId),
          inArray(jobs.state, liveStates),
          sql`${id} = any(${jobs.datasetIds})`,
        ),
      )
      .limit(1);
    if (job !== undefined) return { usedBy: job.id };
    await tx.delete(datasets).where(eq(datasets.id, id));
    await tx.insert(doomedObjects).values({ prefix: row.key });
    return { deleted: row };
  });
}
