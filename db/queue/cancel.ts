// Cancel: at once for a job that nobody runs; a running one goes to `cancelling`, which its runner learns
// from the next heartbeat (or its lease runs out).
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { JobState } from '../../api/contract/job.ts';
import type { Database } from '../connect.ts';
import { jobs } from '../schema.ts';

/** The state it went to; undefined if there is no such job, or it is cancelling or has ended already. */
export async function cancelJob(db: Database, projectId: string, id: string): Promise<JobState | undefined> {
  const idle = inArray(jobs.state, ['queued', 'paused']);
  const [row] = await db
    .update(jobs)
    .set({
      state: sql`case when ${idle} then 'cancelled' else 'cancelling' end`,
      finishedAt: sql`case when ${idle} then now() end`,
      reason: null,
      message: null,
    })
    .where(
      and(
        eq(jobs.projectId, projectId),
        eq(jobs.id, id),
        inArray(jobs.state, ['queued', 'paused', 'running', 'pausing']),
      ),
    )
    .returning({ state: jobs.state });
  return row?.state;
}
