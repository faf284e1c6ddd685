// All that must happen because time has passed, as turns that any process may take, at any time, twice. Each has its own timer on
// Node, so that a slow receiver or a large clean-up keeps no lease from running out. A Worker's cron trigger takes those that it can (worker.ts).
import type { Services } from './context.ts';
import type { Outgoing } from './outgoing.ts';
import { clean } from './retention/clean.ts';
import type { Keep } from './retention/keep.ts';
import { tick } from './tick.ts';
import { deliverDue, deliveryTimeoutMs } from './webhooks/deliver.ts';

/** What cleaning needs. */
export interface CleaningServices extends Pick<Services, 'db' | 'store' | 'log' | 'now'> {
  readonly keep: Keep;
  /** Aborted: a turn begins nothing new, and returns. */
  readonly signal: AbortSignal;
}

export interface ClockServices extends CleaningServices, Pick<Services, 'metrics'> {
  readonly outgoing: Outgoing;
}

export interface Turn {
  readonly name: string;
  /** quick: about once a second; slow: about once a minute. */
  readonly pace: 'quick' | 'slow';
  readonly take: (services: ClockServices) => Promise<unknown>;
}

export const turns: readonly Turn[] = [
  { name: 'leases', pace: 'quick', take: ({ db, log, metrics }) => tick(db, log, metrics) },
  {
    name: 'deliveries',
    pace: 'quick',
    take: ({ signal, ...services }) => deliverDue({ ...services, timeoutMs: deliveryTimeoutMs }, { signal }),
  },
  { name: 'cleaning', pace: 'slow', take: clean },
];

/** One that fails is told and keeps no other from its turn. */
export async function takeTurn({ name, take }: Turn, services: ClockServices): Promise<void> {
  await take(services).then(
    () => services.metrics.tickEnded(false),
    (error: unknown) => {
      services.metrics.tickEnded(true);
      services.log.warn({ err: error, turn: name }, 'clock work failed');
    },
  );
}
