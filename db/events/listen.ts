// News of events by NOTIFY: a hint that makes streams quick. Notices are lost while a connection is down, and
// a pooler may carry none, so whoever listens must poll as well.
import type { Sql } from 'postgres';

/** Channel of NOTIFY; the payload is the job's id. The trigger behind it is in state-guard.ts. */
export const eventChannel = 'millrace_events';

/** Calls `onNews` with the id of each job that has new events, until the returned function is called. */
export async function listenForEvents(
  sql: Sql,
  onNews: (jobId: string) => void,
): Promise<() => Promise<void>> {
  const { unlisten } = await sql.listen(eventChannel, onNews);
  return unlisten;
}
