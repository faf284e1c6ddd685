// Clock work: what must happen because time has passed. Idempotent and safe to run anywhere, at any time, twice;
// a timer calls it on Node, a cron trigger on Workers.
import type { Logger } from 'pino';
import type { Database } from '../db/connect.ts';
import { expireErrands, forgetErrands } from '../db/errands/expire.ts';
import { endStalled, endTimedOut, expireLeases } from '../db/queue/expire-leases.ts';
import type { Metrics } from './metrics/metrics.ts';

export async function tick(db: Database, log: Logger, metrics: Metrics): Promise<void> {
  for (const [what, ended] of [
    ['job timed out', await endTimedOut(db)],
    ['lease expired', await expireLeases(db)],
    ['attempt stalled', await endStalled(db)],
  ] as const)
    for (const { outcome, ...expired } of ended) {
      log.warn(expired, what);
      metrics.attemptEnded(outcome);
    }
  for (const expired of await expireErrands(db)) log.warn(expired, 'lease of an errand expired');
  await forgetErrands(db);
}
