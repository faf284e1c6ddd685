// What the database knows of objects that may be litter: attempts that ended, what committed rows name, which ids there are.
import { and, asc, eq, inArray, isNull, lt, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { idArray } from '../checkpoints/remove.ts';
import type { Database } from '../connect.ts';
import { attempts, checkpoints, datasets, jobs, samples } from '../schema.ts';

export interface EndedAttempt {
  job: string;
  attempt: number;
}

/** Those that ended so long ago and were not looked at since, the oldest first. */
export async function unsweptAttempts(db: Database, graceMs: number, limit: number): Promise<EndedAttempt[]> {
  return await db
    .select({ job: attempts.jobId, attempt: attempts.attempt })
    .from(attempts)
    .where(
      and(isNull(attempts.sweptAt), lt(attempts.endedAt, sql`now() - ${graceMs} * interval '1 millisecond'`)),
    )
    .orderBy(asc(attempts.endedAt))
    .limit(limit);
}

export async function markSwept(db: Database, { job, attempt }: EndedAttempt): Promise<void> {
  await db
    .update(attempts)
    .set({ sweptAt: sql`now()` })
    .where(and(eq(attempts.jobId, job), eq(attempts.attempt, attempt)));
}

/** Of an attempt: prefixes of its committed checkpoints, keys of its indexed samples. */
export async function namedObjects(
  db: Database,
  { job, attempt }: EndedAttempt,
): Promise<{ prefixes: string[]; keys: string[] }> {
  const prefixes = await db
    .select({ prefix: checkpoints.prefix })
    .from(checkpoints)
    .where(and(eq(checkpoints.jobId, job), eq(checkpoints.attempt, attempt)));
  const keys = await db
    .selectDistinct({ key: samples.key })
    .from(samples)
    .where(and(eq(samples.jobId, job), eq(samples.attempt, attempt)));
  return { prefixes: prefixes.map(({ prefix }) => prefix), keys: keys.map(({ key }) => key) };
}

const known = async (
  db: Database,
  table: PgTable,
  id: PgColumn,
  ids: readonly string[],
): Promise<Set<string>> => {
  if (ids.length === 0) return new Set();
  const rows = await db
    .select({ id })
    .from(table)
    .where(inArray(id, [...ids]));
  return new Set(rows.map((row) => row.id as string));
};

export const knownJobs = (db: Database, ids: readonly string[]) => known(db, jobs, jobs.id, ids);
export const knownDatasets = (db: Database, ids: readonly string[]) => known(db, datasets, datasets.id, ids);

/** Of these jobs the attempts that are at work, as "job/attempt". */
export async function attemptsAtWork(db: Database, jobIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.execute<{ job_id: string; attempt: number }>(sql`
    select job_id, attempt from attempts where job_id = any (${idArray(jobIds)}) and ended_at is null`);
  return new Set(rows.map(({ job_id, attempt }) => `${job_id}/${attempt}`));
}
