// Keeps an attempt's lease: heartbeats with the trainer's progress, and the moment when the lease has passed on our
// own monotonic clock, counted from before the call that renewed it. Nothing else of the runner delays a heartbeat.
import type { Progress } from '../../api/contract/job.ts';
import type { AttemptCalls } from './calls.ts';
import { verdictOf } from './calls.ts';

export interface LeaseOptions {
  readonly calls: Pick<AttemptCalls, 'heartbeat'>;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** performance.now() from before the claim was sent. */
  readonly heldSince: number;
  readonly progress: () => Progress | null;
  /** Of life, so far. */
  readonly signs?: () => number;
  readonly onCancel: () => void;
  /** Called at every heartbeat while a pause is wanted. */
  readonly onPause: () => void;
  /** A heartbeat without an answer; the next one follows. */
  readonly onMissed: (why: string) => void;
  /** Called once; no heartbeat follows. */
  readonly onLost: (why: string) => void;
}

export interface Lease {
  /** No heartbeat follows; the lease is let go. */
  stop(): void;
}

const shortestTimeoutMs = 500;

export function keepLease(options: LeaseOptions): Lease {
  let stopped = false;
  let beat: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;
  const stop = (): void => {
    stopped = true;
    clearTimeout(beat);
    clearTimeout(expiry);
  };
  const lose = (why: string): void => {
    if (stopped) return;
    stop();
    options.onLost(why);
  };
  const renew = (heldSince: number, leaseMs: number): void => {
    clearTimeout(expiry);
    const left = heldSince + leaseMs - performance.now();
    expiry = setTimeout(() => lose('the lease passed without an answer to a heartbeat'), Math.max(0, left));
  };
  const timeoutMs = Math.round(Math.max(shortestTimeoutMs, Math.min(5_000, options.leaseMs / 3)));

  const send = async (): Promise<void> => {
    const sent = performance.now();
    try {
      const { action, lease_ms } = await options.calls.heartbeat(
        options.progress(),
        timeoutMs,
        options.signs?.(),
      );
      if (stopped) return;
      renew(sent, lease_ms);
      if (action === 'cancel') options.onCancel();
      if (action === 'pause') options.onPause();
    } catch (error) {
      const why = (error as Error).message;
      if (verdictOf(error) === 'lost') lose(`the service answered: ${why}`);
      else if (!stopped) options.onMissed(why);
    }
    if (!stopped) beat = setTimeout(() => void send(), options.heartbeatMs);
  };

  renew(options.heldSince, options.leaseMs);
  beat = setTimeout(() => void send(), options.heartbeatMs);
  return { stop };
}
