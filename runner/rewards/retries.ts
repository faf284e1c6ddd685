// Asking again: what may pass by itself (no connection, time-outs, 408, 429, 5xx) is tried again with growing pauses, what
// will not is said at once.
import { setTimeout } from 'node:timers/promises';
import type { Outgoing, OutgoingAnswer, OutgoingRequest } from './outgoing.ts';
import { shownUrl, Unreachable } from './outgoing.ts';

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
    if (tried > retries) throw tried === 1 ? refused : afterTries(refused, tried);
    await wait(last instanceof Unreachable ? pauseMs(tried) : (toldPauseMs(last) ?? pauseMs(tried)));
  }
}

function asUnreachable(error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  throw error;
}

const afterTries = (last: Unreachable, tries: number): Unreachable =>
  new Unreachable(`${last.message} (the last of ${tries} tries)`, false, { cause: last });

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
