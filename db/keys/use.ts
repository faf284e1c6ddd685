// When a key was last used: to the minute, so that a busy key costs one write a minute and not one a request.
import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { apiKeys } from './table.ts';

/** Whether the time that the row names is too old to stand. */
export const isUseStale = () =>
  sql<boolean>`(${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < now() - interval '1 minute')`;

/** Of several processes that come at once, one writes. */
export async function noteUse(db: Database, id: string): Promise<void> {
  await db
    .update(apiKeys)
    .set({ lastUsedAt: sql`now()` })
    .where(and(eq(apiKeys.id, id), isUseStale()));
}
