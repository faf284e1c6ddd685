// NOTIFY of the database becomes hints for those who follow a job. One connection for the whole process; when it
// breaks the driver makes a new one, and what was missed meanwhile is found by polling.
import type { Logger } from 'pino';
import type postgres from 'postgres';
import { listenForEvents } from '../../db/events/listen.ts';
import type { HintSource } from '../events/hints.ts';

export async function listenForHints(sql: postgres.Sql, hints: HintSource, log: Logger): Promise<void> {
  await listenForEvents(sql, (job) => hints.notify(job)).catch((error: unknown) =>
    log.warn({ err: error }, 'no notifications from the database: streams poll'),
  );
}
