// Waits until the service says that it can work: database and store answer.
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../user-error.ts';

const defaultPatienceMs = 30_000;
const pollMs = 100;

/** @throws UserError with what /readyz says is missing. */
export async function untilReady(
  url: string,
  interrupt: AbortSignal,
  patienceMs = defaultPatienceMs,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask(`${url}/readyz`, interrupt);
    if (answer === 'ready') return;
    if (performance.now() > deadline)
      throw new UserError(`${url} is not ready after ${patienceMs / 1000} s: ${answer}`);
    await delay(pollMs, undefined, { signal: interrupt });
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
