// For tests of real processes only: polls a condition, with a deadline.
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 20;

/** @throws Error naming what was waited for, when it does not hold within `patienceMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = condition.toString(),
  patienceMs = 20_000,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${what}`);
    await delay(pollMs);
  }
}
