// Pause: at once for a job that nobody runs; a running one goes to `pausing`, which its runner learns from the next heartbeat (or
// its lease runs out).
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { JobState } from '../../api/contract/job.ts';
import type { Database } from '../connect.ts';
import { jobs } from '../schema.ts';

/** The state it went to; undefined if there is no such job, or it is neither queued nor running. */
export async function pauseJob(db: Database, projectId: string, id: string): Promise<JobState | undefined> {
  const [row] = await db
    .update(jobs)
    .set({
      state: sql`case when ${jobs.state} = 'queued' then 'paused' else 'pausing' end`,
      reason: null,
      message: null,
    })
    .where(and(eq(jobs.projectId, projectId), eq(jobs.id, id), inArray(jobs.state, ['queued', 'running'])))
    .returning({ state: jobs.state });
  return row?.state;
}
