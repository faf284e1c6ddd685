// A hint that a job may have new events, so that followers look at once. A hint may be late, missing or wrong:
// followers poll as well, and only ever believe the database.

export interface EventHints {
  /** From now on hints for the job are remembered until they are waited for. Close it. */
  watch(job: string): Watch;
}

export interface Watch {
  /** Resolves when there was a hint since the last wait, when `ms` have passed, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface HintSource extends EventHints {
  notify(job: string): void;
  /** Jobs that somebody watches. */
  readonly watched: number;
}

export function createHints(): HintSource {
  const watches = new Map<string, Set<() => void>>();
  return {
    notify: (job) => watches.get(job)?.forEach((hint) => hint()),
    get watched() {
      return watches.size;
    },
    watch(job) {
      let hinted = false;
      let wake: (() => void) | undefined;
      const hint = (): void => {
        hinted = true;
        wake?.();
      };
      watches.set(job, (watches.get(job) ?? new Set()).add(hint));
      return {
        async wait(ms, signal) {
          if (!hinted && !signal.aborted)
            await new Promise<void>((resolve) => (wake = wakeAfter(ms, signal, resolve)));
          wake = undefined;
          hinted = false;
        },
        close() {
          const others = watches.get(job);
          others?.delete(hint);
          if (others?.size === 0) watches.delete(job);
        },
      };
    },
  };
}

/** Calls `resolve` once: by the returned function, after `ms`, or on abort. Leaves no timer and no listener. */
function wakeAfter(ms: number, signal: AbortSignal, resolve: () => void): () => void {
  const wake = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    resolve();
  };
  const timer = setTimeout(wake, ms);
  signal.addEventListener('abort', wake, { once: true });
  return wake;
}
