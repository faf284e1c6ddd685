// Resume: a paused job may be claimed again, from its last checkpoint, with all its attempts before it.
import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { jobs } from '../schema.ts';

/** False if there is no such job, or it is not paused. */
export async function resumeJob(db: Database, projectId: string, id: string): Promise<boolean> {
  const rows = await db
    .update(jobs)
    .set({
      state: 'queued',
      reason: null,
      message: null,
      failuresWithoutCheckpoint: 0,
      availableAt: sql`now()`,
    })
    .where(and(eq(jobs.projectId, projectId), eq(jobs.id, id), eq(jobs.state, 'paused')))
    .returning({ id: jobs.id });
  return rows.length > 0;
}
