// News of events and of finished errands by NOTIFY: a hint that makes streams quick. Notices are lost while a connection is down, and
// a pooler may carry none, so whoever listens must poll as well.
import { sql as query } from 'drizzle-orm';
import type { Sql } from 'postgres';
import type { Database } from '../connect.ts';

/** Channel of NOTIFY; the payload is the id of the job or errand. The trigger for events is in state-guard.ts. */
export const eventChannel = 'millrace_events';

/** Tells listeners that the thing has news, once the transaction commits. */
export async function notifyNews(db: Database, id: string): Promise<void> {
  await db.execute(query`select pg_notify(${eventChannel}, ${id})`);
}

/** Calls `onNews` with the id of each job or errand that has news, until the returned function is called. */
export async function listenForEvents(sql: Sql, onNews: (id: string) => void): Promise<() => Promise<void>> {
  const { unlisten } = await sql.listen(eventChannel, onNews);
  return unlisten;
}
