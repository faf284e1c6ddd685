// Requests that no key opens, counted by the address they come from: whoever tries keys, or sends a dead one without end,
// is soon answered without the database being asked. Behind one address there may be others: a key that has opened
// something lately is always looked up, so that nobody's runner loses its lease by a neighbour's mistake.
import type { Services } from '../context.ts';
import { ProblemError } from '../problem.ts';
import { networkOf } from './address.ts';
import { createBuckets } from './buckets.ts';
import { retryAfter } from './headers.ts';

export interface Refusals {
  /** @throws ProblemError rate_limited. */
  check(address: string | undefined, hash: string | undefined): void;
  /** Counts a refusal, and gives it back. */
  note(address: string | undefined, hash: string | undefined, refusal: ProblemError): ProblemError;
  /** The key of this hash is valid. */
  trust(hash: string): void;
}

/** Keys that are remembered to be valid. */
const mostTrusted = 10_000;

export function createRefusals({ limits, now }: Pick<Services, 'limits' | 'now'>): Refusals {
  const perMinute = limits.refusalsPerMinute;
  const buckets = createBuckets({ perMinute, burst: perMinute }, () => now().getTime());
  const trusted = new Set<string>();
  return {
    check(address, hash) {
      if (address === undefined || (hash !== undefined && trusted.has(hash))) return;
      const { taken, waitS } = buckets.look(networkOf(address));
      if (!taken)
        throw new ProblemError(
          'rate_limited',
          `more than ${perMinute} requests a minute without a valid key came from your address: ` +
            `send a valid key, and wait ${waitS} s before you do`,
          { headers: retryAfter(waitS) },
        );
    },
    note(address, hash, refusal) {
      if (hash !== undefined) trusted.delete(hash);
      if (address !== undefined) buckets.take(networkOf(address));
      return refusal;
    },
    trust(hash) {
      if (trusted.has(hash)) return;
      const [oldest] = trusted;
      if (trusted.size >= mostTrusted && oldest !== undefined) trusted.delete(oldest);
      trusted.add(hash);
    },
  };
}
