// What a job to be posted needs, locked: none of it ends between the look and the commit, or the end would miss the new job.
import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { jobs, type JobRow } from '../schema.ts';

export type NeededJob = Pick<JobRow, 'id' | 'state'>;

/** Those of the project that exist. */
export async function lockNeeds(
  tx: Database,
  projectId: string,
  ids: readonly string[],
): Promise<NeededJob[]> {
  if (ids.length === 0) return [];
  return await tx
    .select({ id: jobs.id, state: jobs.state })
    .from(jobs)
    .where(and(eq(jobs.projectId, projectId), inArray(jobs.id, [...ids])))
    .orderBy(asc(jobs.id))
    .for('share');
}
