// What a job's row says of its waiting and running. Filled by triggers where a job must not be able to miss it
// (requirements, awaits_data, delayed, unmet_needs: the migration `queue_sql`); decision 0022 says why.
import { sql } from 'drizzle-orm';
import { bigint, boolean, integer, text, timestamp } from 'drizzle-orm/pg-core';

export const queueColumns = () => ({
  /** What a runner must have: the id of a row of `requirements`. */
  requirements: text('requirements'),
  /** Jobs that must succeed before it and have not yet. */
  unmetNeeds: integer('unmet_needs').notNull().default(0),
  /** A dataset of its is not ready. */
  awaitsData: boolean('awaits_data').notNull().default(false),
  /** `available_at` lies ahead; a claim wakes the job when it has come. */
  delayed: boolean('delayed').notNull().default(false),
  retryOf: text('retry_of'),
  forkOf: text('fork_of'),
  /** The checkpoint, of another job, that a retry or fork goes on from. */
  beganFrom: text('began_from'),
  /** Of attempts that have ended. */
  ranMs: bigint('ran_ms', { mode: 'number' }).notNull().default(0),
  /** When the attempt that holds it was last seen to get on; null: not watched. */
  progressedAt: timestamp('progressed_at', { withTimezone: true, precision: 3 }),
  /** Signs of life of that attempt, as its runner counts them. */
  signs: integer('signs').notNull().default(0),
});

/** Of rows that a claim may take: written as it stands in the index, or the index is not used. */
export const claimable = sql`state = 'queued' and unmet_needs = 0 and not awaits_data and not delayed`;
