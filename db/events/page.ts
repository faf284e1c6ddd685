// Events as clients read them, from a number on.
import { and, asc, desc, eq, gt, lt } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { events, type EventRow } from '../schema.ts';

/** The events that follow number `after` (0: from the first), `limit` at most. */
export async function eventsAfter(
  db: Database,
  jobId: string,
  after: number,
  limit: number,
): Promise<EventRow[]> {
  return await db
    .select()
    .from(events)
    .where(and(eq(events.jobId, jobId), gt(events.seq, after)))
    .orderBy(asc(events.seq))
    .limit(limit);
}

/** The same from the newest on: those before number `before` (undefined: from the last). */
export async function eventsBefore(
  db: Database,
  jobId: string,
  before: number | undefined,
  limit: number,
): Promise<EventRow[]> {
  return await db
    .select()
    .from(events)
    .where(and(eq(events.jobId, jobId), before === undefined ? undefined : lt(events.seq, before)))
    .orderBy(desc(events.seq))
    .limit(limit);
}
