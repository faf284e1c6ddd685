// Clock work: what must happen because time has passed. Idempotent and safe to run anywhere, at any time, twice;
// a timer calls it on Node, a cron trigger on Workers.
import type { Logger } from 'pino';
import type { Database } from '../db/connect.ts';
import { expireErrands, forgetErrands } from '../db/errands/expire.ts';
import { endStalled, endTimedOut, expireLeases } from '../db/queue/expire-leases.ts';

export async function tick(db: Database, log: Logger): Promise<void> {
  for (const expired of await endTimedOut(db)) log.warn(expired, 'job timed out');
  for (const expired of await expireLeases(db)) log.warn(expired, 'lease expired');
  for (const expired of await endStalled(db)) log.warn(expired, 'attempt stalled');
  for (const expired of await expireErrands(db)) log.warn(expired, 'lease of an errand expired');
  await forgetErrands(db);
}
