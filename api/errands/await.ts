// Waits for an errand that a runner does: a hint makes the next look early, polling makes it certain. Between looks no
// database connection is held.
import { getErrand, type ErrandSummaryRow } from '../../db/errands/get.ts';
import type { Services } from '../context.ts';

/** The errand once it has ended, or as it is when the time is over; undefined if it was forgotten. */
export async function awaitErrand(
  { db, hints, timing, stopping }: Pick<Services, 'db' | 'hints' | 'timing' | 'stopping'>,
  of: { readonly projectId: string; readonly errand: string },
  waitMs: number,
  gone: AbortSignal,
): Promise<ErrandSummaryRow | undefined> {
  const signal = AbortSignal.any([stopping, gone]);
  const until = performance.now() + waitMs;
  const watch = hints.watch(of.errand);
  try {
    for (;;) {
      const row = await getErrand(db, of.projectId, of.errand);
      const left = until - performance.now();
      if (row === undefined || row.finishedAt !== null || left <= 0 || signal.aborted) return row;
      await watch.wait(Math.min(timing.pollMs, left), signal);
    }
  } finally {
    watch.close();
  }
}
