// Waits until the service says that it can work: database and store answer.
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../user-error.ts';

const defaultPatienceMs = 30_000;
const pollMs = 100;
/** From then on whoever waits is told for what. */
const quietMs = 2_000;

interface Waiting {
  readonly interrupt: AbortSignal;
  readonly say: (text: string) => void;
  readonly patienceMs?: number;
}

/** @throws UserError with what /readyz says is missing. */
export async function untilReady(
  url: string,
  { interrupt, say, patienceMs = defaultPatienceMs }: Waiting,
): Promise<void> {
  const begin = performance.now();
  let told = false;
  for (;;) {
    const answer = await ask(`${url}/readyz`, interrupt);
    if (answer === 'ready') return;
    const waited = performance.now() - begin;
    if (waited > patienceMs)
      throw new UserError(`the service is not ready after ${patienceMs / 1000} s: ${missing(answer)}`);
    if (!told && waited > quietMs) say(`the service is not ready yet: ${missing(answer)}`);
    told ||= waited > quietMs;
    await delay(pollMs, undefined, { signal: interrupt });
  }
}

const settings = {
  database: 'DATABASE_URL',
  store: 'STORE_URL, and for S3 at S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY',
};

/** The answer of /readyz in words, with the settings to look at; any other answer as it is. */
function missing(answer: string): string {
  const said = parseObject(answer);
  const parts = (['database', 'store'] as const)
    .filter((part) => said !== undefined && said[part] !== 'ok' && said[part] !== undefined)
    .map((part) => `the ${part} is ${String(said?.[part])} (look at ${settings[part]})`);
  return parts.length === 0 ? answer : parts.join('; ');
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function ask(url: string, interrupt: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([interrupt, AbortSignal.timeout(5000)]) });
    return response.ok ? 'ready' : await response.text();
  } catch (error) {
    interrupt.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  }
}
