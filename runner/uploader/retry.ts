// Tries a piece of a transfer again while the store does not answer, with growing pauses, up to a limit in time.
// What the store answers (no such object, no permission, full) is not asked again.
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../../store/error.ts';
import { TransferFailure } from './failure.ts';

export interface Patience {
  /** Milliseconds after which an unreachable store is a failure. */
  readonly limitMs: number;
  readonly firstPauseMs: number;
}

const longestPauseMs = 10_000;
/** Bytes that came wrong may come right; bytes that lie wrong do not. */
const corruptTries = 3;

function isCorrupt(error: unknown): boolean {
  return (error instanceof StoreError || error instanceof TransferFailure) && error.code === 'corrupt';
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof StoreError && error.code === 'unreachable';

/** Result of `attempt`; throws its last error once patience is over. */
export async function retrying<T>(
  { limitMs, firstPauseMs }: Patience,
  attempt: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  let corrupt = 0;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    try {
      return await attempt();
    } catch (error) {
      if (isCorrupt(error)) corrupt++;
      const again = isUnreachable(error) || (isCorrupt(error) && corrupt < corruptTries);
      if (!again || performance.now() - start + pause > limitMs) throw error;
    }
    await delay(pause);
  }
}
