// The fence: every write of a runner names its job and attempt. A row that matches means that the attempt
// still holds the job; no row is the answer `lease_lost`, a normal value and not an exception.
import { and, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { reaches, type RunnerKey } from '../runners.ts';
import { jobs, type JobRow } from '../schema.ts';
import { heldStates, type HeldState } from '../states.ts';

export interface Fence extends RunnerKey {
  runner: string;
  job: string;
  attempt: number;
}

export type LeaseLost = 'lease_lost';

export type HeldJob = JobRow & { state: HeldState };

/** The condition by which a statement is fenced. */
export function holds(fence: Fence): SQL | undefined {
  return and(
    eq(jobs.id, fence.job),
    eq(jobs.attempt, fence.attempt),
    reaches(fence, jobs.projectId),
    eq(jobs.runnerId, fence.runner),
    inArray(jobs.state, [...heldStates]),
  );
}

/** Locks the job for the rest of the transaction if the attempt still holds it. */
export async function lockHeld(tx: Database, fence: Fence): Promise<HeldJob | LeaseLost> {
  const [row] = await tx.select().from(jobs).where(holds(fence)).for('update');
  return row === undefined ? 'lease_lost' : (row as HeldJob);
}

/** Columns of time are rounded to milliseconds: what was written as now may lie half a one ahead of the next statement. */
export const thisMoment = sql<Date>`now() + interval '1 millisecond'`;

/** Of a job that gets on: attempts from before this was watched stay unwatched. */
export const progressedNow = sql<Date | null>`case when ${jobs.progressedAt} is not null then now() end`;

/** End of a lease that starts now, by the database's clock. */
export function leaseEnd(leaseMs: number): SQL<Date> {
  return sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`;
}
