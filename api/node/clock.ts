// The timer that calls `tick`. A tick that fails is told and tried again at the next turn; ticks never overlap.
import type { Logger } from 'pino';
import type { Database } from '../../db/connect.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { tick } from '../tick.ts';

export interface Clock {
  /** Resolves when the last tick has ended. */
  stop(): Promise<void>;
}

export function startClock(db: Database, everyMs: number, log: Logger, metrics: Metrics): Clock {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const turn = async (): Promise<void> => {
    await tick(db, log, metrics).then(
      () => metrics.tickEnded(false),
      (error: unknown) => {
        metrics.tickEnded(true);
        log.warn({ err: error }, 'tick failed');
      },
    );
    if (!stopped) wait();
  };
  const wait = (): void => {
    timer = setTimeout(() => {
      running = turn();
    }, everyMs);
  };
  running = turn();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
