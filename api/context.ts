// What every route works with: the services of this process, and what the middleware found out about a request.
import type { Logger } from 'pino';
import type { Database } from '../db/connect.ts';
import type { ObjectStore } from '../store/store.ts';
import type { ModelNames } from './contract/model-names.ts';
import type { EventHints } from './events/hints.ts';
import type { Limits, Timing } from './limits.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Caller } from './middleware/auth.ts';

export interface Services {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly limits: Limits;
  readonly timing: Timing;
  readonly hints: EventHints;
  /** May specs name addresses on loopback and in private networks? */
  readonly allowPrivateAddresses: boolean;
  /** Models that jobs in OpenAI’s form may name. */
  readonly models: ModelNames;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Opens /metrics; undefined: nobody may read them. */
  readonly metricsToken: string | undefined;
  readonly now: () => Date;
  /** Where a request comes from, for limits; undefined where nobody can say. */
  readonly addressOf: (request: Request, env: unknown) => string | undefined;
  /** Aborted when the process is about to stop: open streams end. */
  readonly stopping: AbortSignal;
}

export interface Env {
  Variables: {
    requestId: string;
    caller: Caller;
    /** Project of what was changed, where it is not the caller's: for the audit trail. */
    about?: string;
  };
}
