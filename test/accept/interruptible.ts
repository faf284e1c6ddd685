// How a long, resumable acceptance run ends: with its verdict, or at a signal. The first stops it in order, so that the next run goes on
// where this one was; the second hurries.
import { explainError } from '../../cli/explain-error.ts';

/** Ends the process: 0 passed, 1 failed, 130 interrupted. */
export async function runInterruptible(
  main: (interrupt: AbortSignal, hurry: AbortSignal) => Promise<number>,
): Promise<never> {
  const [interrupt, hurry] = [new AbortController(), new AbortController()];
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () =>
      (interrupt.signal.aborted ? hurry : interrupt).abort(new Error(`interrupted by ${signal}`)),
    );
  return process.exit(
    await main(interrupt.signal, hurry.signal).catch((error: unknown) => {
      console.error(
        interrupt.signal.aborted
          ? 'interrupted; the next run goes on where this one was'
          : explainError(error),
      );
      return interrupt.signal.aborted ? 130 : 1;
    }),
  );
}
