// The timers that take the turns of clock-work.ts. A turn that fails is told and taken again; a turn never overlaps itself.
import type { ClockServices, Turn } from '../clock-work.ts';
import { takeTurn, turns } from '../clock-work.ts';

export interface Clock {
  /** Resolves when the last turns have ended. */
  stop(): Promise<void>;
}

/** How long to wait between two turns of each pace. */
export type Pace = Readonly<Record<Turn['pace'], number>>;

export function startClock(services: Omit<ClockServices, 'signal'>, pace: Pace): Clock {
  const stopping = new AbortController();
  const all = turns.map((turn) =>
    startTurns(turn, { ...services, signal: stopping.signal }, pace[turn.pace]),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.all(all.map((one) => one.stop()));
    },
  };
}

function startTurns(turn: Turn, services: ClockServices, everyMs: number): Clock {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const take = async (): Promise<void> => {
    await takeTurn(turn, services);
    if (!services.signal.aborted) wait();
  };
  const wait = (): void => {
    timer = setTimeout(() => {
      running = take();
    }, everyMs);
  };
  running = take();
  return {
    async stop() {
      clearTimeout(timer);
      await running;
    },
  };
}
