// Clock work: sends what is due, many at a time and few of them to one webhook, so that a slow receiver holds up no other. Safe to
// run in several processes at once: a delivery is claimed before it is sent. At least once, in no particular order.
import { setTimeout as delay } from 'node:timers/promises';
import { claimDeliveries } from '../../db/webhooks/deliveries.ts';
import { sendDelivery, type Sending } from './send.ts';

/** Of one process. */
const mostInFlight = 32;
const mostPerWebhook = 4;
export const deliveryTimeoutMs = 10_000;
/** A process that sends has died when its delivery is still under way after this. */
const leaseMs = deliveryTimeoutMs + 20_000;
/** While something is under way, others become due. */
const lookAgainMs = 500;

export interface Turn {
  /** Aborted: nothing new is begun. */
  readonly signal?: AbortSignal;
}

/** Returns when nothing is due and nothing under way; how many tries it made. */
export async function deliverDue(sending: Sending, { signal }: Turn = {}): Promise<number> {
  const inFlight = new Map<string, { readonly webhook: string; readonly done: Promise<void> }>();
  let tries = 0;
  for (;;) {
    // Asked before the claim: what ends during it may have kept its webhook out of it.
    const wasIdle = inFlight.size === 0;
    const free = signal?.aborted === true ? 0 : mostInFlight - inFlight.size;
    const claim = { limit: free, perWebhook: mostPerWebhook, busy: busyWebhooks(inFlight.values()), leaseMs };
    const claimed = free === 0 ? [] : await claimDeliveries(sending.db, claim);
    for (const delivery of claimed) {
      const done = sendDelivery(sending, delivery)
        .catch((error: unknown) => sending.log.warn({ err: error, delivery: delivery.id }, 'delivery failed'))
        .finally(() => inFlight.delete(delivery.id));
      inFlight.set(delivery.id, { webhook: delivery.webhookId, done });
    }
    tries += claimed.length;
    if (wasIdle && claimed.length === 0) return tries;
    if (inFlight.size === 0) continue;
    const anyDone = Promise.race([...inFlight.values()].map(({ done }) => done));
    await (free > claimed.length ? Promise.race([anyDone, delay(lookAgainMs)]) : anyDone);
  }
}

/** To be left out of the next claim, which may take as many of one webhook as there may be. */
function busyWebhooks(inFlight: Iterable<{ readonly webhook: string }>): string[] {
  return [...new Set([...inFlight].map(({ webhook }) => webhook))];
}
