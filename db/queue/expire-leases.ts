// Clock work: jobs whose runner has fallen silent go back to the queue, or end, as after any failure. Safe
// to run anywhere, any number of times at once.
import { and, asc, inArray, lt, sql } from 'drizzle-orm';
import type { JobState } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import type { Database } from '../connect.ts';
import { jobs } from '../schema.ts';
import { heldStates } from '../states.ts';
import { endAttempt } from './end-attempt.ts';
import type { HeldJob } from './fence.ts';

export interface Expired {
  job: string;
  attempt: number;
  state: JobState;
}

export const silence: Outcome = {
  type: 'failed',
  reason: 'lease_expired',
  message: 'the runner was not heard of until its lease ran out',
};

/** Every lease that has run out, each in a transaction of its own, so that one bad row holds up no other. */
export async function expireLeases(db: Database): Promise<Expired[]> {
  const expired: Expired[] = [];
  for (;;) {
    const one = await expireOne(db);
    if (one === undefined) return expired;
    expired.push(one);
  }
}

async function expireOne(db: Database): Promise<Expired | undefined> {
  return await db.transaction(async (tx) => {
    const [job] = await tx
      .select()
      .from(jobs)
      .where(and(inArray(jobs.state, [...heldStates]), lt(jobs.leaseExpiresAt, sql`now()`)))
      .orderBy(asc(jobs.leaseExpiresAt))
      .limit(1)
      .for('update', { skipLocked: true });
    if (job === undefined) return undefined;
    const { state } = await endAttempt(tx, job as HeldJob, silence);
    return { job: job.id, attempt: job.attempt, state };
  });
}
