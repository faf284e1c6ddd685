// Events as clients read them, oldest first, from a number on.
import { and, asc, eq, gt } from 'drizzle-orm';
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
