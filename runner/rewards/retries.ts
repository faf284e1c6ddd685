// Asking again: what may pass by itself (no connection, time-outs, 408, 429, 5xx) is tried again with growing pauses, what
// will not is said at once.
import { setTimeout } from 'node:timers/promises';
import { bounded } from './batched.ts';
import type { Outgoing, OutgoingAnswer, OutgoingRequest } from '../../api/outgoing.ts';
import { shownUrl, Unreachable } from '../../api/outgoing.ts';

export interface Patience {
  /** After the first try. */
  readonly retries: number;
  /** Default: timers. */
  readonly wait?: ((ms: number) => Promise<unknown>) | undefined;
}

const firstPauseMs = 500;
const longestPauseMs = 60_000;
/** Of a refusal, in messages. */
const shownCharacters = 200;

/** The answer where its status is 2xx. `request` is made anew for each try. @throws Unreachable with the last try's reason. */
export async function postWithRetries(
  outgoing: Outgoing,
  url: string,
  request: () => OutgoingRequest,
  { retries, wait = setTimeout }: Patience,
): Promise<OutgoingAnswer> {
  for (let tried = 1; ; tried++) {
    const last = await outgoing.post(url, request()).catch(asUnreachable);
    if (!(last instanceof Unreachable) && last.status >= 200 && last.status <= 299) return last;
    const refused = last instanceof Unreachable ? last : refusal(url, last);
    if (!refused.again) throw refused;
    if (tried > retries) throw new Down(refused, tried);
    await wait(last instanceof Unreachable ? pauseMs(tried) : (toldPauseMs(last) ?? pauseMs(tried)));
  }
}

function asUnreachable(error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  throw error;
}

/** Not one of the tries was answered: for now nobody is there. */
export class Down extends Unreachable {
  constructor(last: Unreachable, tries: number) {
    super(tries === 1 ? last.message : `${last.message} (the last of ${tries} tries)`, false, {
      cause: last,
    });
  }
}

/**
 * Runs what it is given, `most` at a time. What waits for its turn when another turns out Down fails with it, unsent: an
 * outage costs a thousand answers what it costs one, and who waits for them hears of it soon.
 */
export function boundedUntilDown(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const slots = bounded(most);
  let downs = 0;
  let last: Down | undefined;
  return (work) => {
    const known = downs;
    return slots(async () => {
      if (last !== undefined && downs !== known) throw last;
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Down)) throw error;
        downs++;
        last = error;
        throw error;
      }
    });
  };
}

/** A request that was refused for what it says; `status` for those who know another way to say it. */
export class Refused extends Unreachable {
  readonly status: number;
  constructor(message: string, again: boolean, status: number) {
    super(message, again);
    this.status = status;
  }
}

function refusal(url: string, { status, body }: OutgoingAnswer): Refused {
  const why =
    status >= 300 && status <= 399
      ? 'redirects are not followed: name the address itself'
      : JSON.stringify(body.slice(0, shownCharacters));
  const again = status === 408 || status === 429 || status >= 500;
  return new Refused(`${shownUrl(url)}: answered ${status}: ${why}`, again, status);
}

const pauseMs = (tried: number): number => Math.min(longestPauseMs, firstPauseMs * 2 ** (tried - 1));

/** Retry-After in seconds, or as a date. */
function toldPauseMs({ headers }: OutgoingAnswer): number | undefined {
  const told = headers['retry-after'];
  if (told === undefined) return undefined;
  const ms = /^\d+$/.test(told) ? Number(told) * 1_000 : Date.parse(told) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(longestPauseMs, Math.max(0, ms));
}
