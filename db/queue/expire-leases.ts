// Clock work: jobs whose runner has fallen silent, has run for too long or gets nowhere go back to the queue, or end, as after any
// failure. Safe to run anywhere, any number of times at once.
import { and, asc, inArray, lt, sql, type SQL } from 'drizzle-orm';
import type { JobState } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import type { Database } from '../connect.ts';
import { attempts, jobs } from '../schema.ts';
import { heldStates } from '../states.ts';
import { endAttempt } from './end-attempt.ts';
import type { HeldJob } from './fence.ts';

export interface Expired {
  job: string;
  attempt: number;
  state: JobState;
  /** As which the attempt was ended. */
  outcome: Outcome;
}

interface Rule {
  readonly broken: SQL | undefined;
  readonly outcome: (job: HeldJob) => Outcome;
}

const silence: Rule = {
  broken: lt(jobs.leaseExpiresAt, sql`now()`),
  outcome: () => ({
    type: 'failed',
    reason: 'lease_expired',
    message: 'the runner was not heard of until its lease ran out',
  }),
};

const tooLong: Rule = {
  broken: sql`${jobs.expanded} ? 'timeout' and exists (
    select 1 from ${attempts}
    where ${attempts.jobId} = ${jobs.id} and ${attempts.attempt} = ${jobs.attempt}
      and ${attempts.startedAt} + (${jobs.expanded} ->> 'timeout')::interval < now() + ${jobs.ranMs} * interval '1 millisecond'
  )`,
  outcome: ({ expanded }) => ({
    type: 'failed',
    reason: 'timeout',
    message: `it has run for its timeout of ${expanded.timeout}, all attempts together; its last checkpoint is kept`,
  }),
};

/** The runner watches its trainer for `stall_timeout` and is first to end what stands still; this is for a runner that does not. */
const stallMargin = sql`interval '1 minute'`;

const standstill: Rule = {
  broken: sql`${jobs.progressedAt} + (${jobs.expanded} ->> 'stall_timeout')::interval + ${stallMargin} < now()`,
  outcome: ({ expanded }) => ({
    type: 'failed',
    reason: 'stalled',
    message: `its runner sends heartbeats, but neither progress nor a sign of life for ${expanded.stall_timeout} (stall_timeout) and a minute`,
  }),
};

/** Every lease that has run out. */
export const expireLeases = (db: Database): Promise<Expired[]> => endAll(db, silence);

/** Every attempt with which its job has run for its `timeout`. */
export const endTimedOut = (db: Database): Promise<Expired[]> => endAll(db, tooLong);

/** Every attempt that is alive and gets nowhere. */
export const endStalled = (db: Database): Promise<Expired[]> => endAll(db, standstill);

/** Each in a transaction of its own, so that one bad row holds up no other. */
async function endAll(db: Database, rule: Rule): Promise<Expired[]> {
  const expired: Expired[] = [];
  for (;;) {
    const one = await endOne(db, rule);
    if (one === undefined) return expired;
    expired.push(one);
  }
}

async function endOne(db: Database, { broken, outcome }: Rule): Promise<Expired | undefined> {
  return await db.transaction(async (tx) => {
    const [job] = await tx
      .select()
      .from(jobs)
      .where(and(inArray(jobs.state, [...heldStates]), broken))
      .orderBy(asc(jobs.leaseExpiresAt))
      .limit(1)
      .for('update', { skipLocked: true });
    if (job === undefined) return undefined;
    const ending = outcome(job as HeldJob);
    const { state } = await endAttempt(tx, job as HeldJob, ending);
    return { job: job.id, attempt: job.attempt, state, outcome: ending };
  });
}
