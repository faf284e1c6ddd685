// What becomes of a job when its attempt ends. Pure: the decision, without the database.
import { failureReasons, type FailureReason } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import type { HeldState } from '../states.ts';

/** The first retry waits this long; each further failure without a checkpoint doubles it, up to the cap. */
export const retryDelay = { firstMs: 1_000, capMs: 300_000 } as const;

export interface Held {
  state: HeldState;
  attempt: number;
  failuresWithoutCheckpoint: number;
  maxAttempts: number;
  /** True if this attempt committed a checkpoint. */
  committed: boolean;
  /** What the spec wants where something outside is missing. */
  otherwise: 'pause' | 'fail';
}

export interface Next {
  state: 'succeeded' | 'failed' | 'cancelled' | 'queued' | 'paused';
  reason: FailureReason | null;
  message: string | null;
  failuresWithoutCheckpoint: number;
  /** How long a queued job waits before it can be claimed again. */
  delayMs: number;
}

/**
 * Cancel wins over everything, then success, then a pause that was asked for; a transient failure is retried while attempts are
 * left, and what is missing outside pauses the job.
 */
export function afterAttempt(held: Held, outcome: Outcome): Next {
  const end = {
    reason: null,
    message: null,
    failuresWithoutCheckpoint: held.failuresWithoutCheckpoint,
    delayMs: 0,
  };
  if (held.state === 'cancelling') return { ...end, state: 'cancelled' };
  if (outcome.type === 'succeeded') return { ...end, state: 'succeeded' };
  if (outcome.type === 'paused' && held.state === 'pausing') return { ...end, state: 'paused' };
  if (outcome.type === 'released') {
    const failuresWithoutCheckpoint = held.committed ? 0 : held.failuresWithoutCheckpoint;
    return { ...end, state: held.state === 'pausing' ? 'paused' : 'queued', failuresWithoutCheckpoint };
  }
  return afterFailure(held, asFailure(outcome));
}

/** Whether the attempt ended as its job or somebody's wish would have it. */
export const isWanted = (state: HeldState, { type }: Outcome): boolean =>
  type === 'succeeded' ||
  type === 'released' ||
  (type === 'cancelled' && state === 'cancelling') ||
  // A cancel may overtake a pause.
  (type === 'paused' && state !== 'running');

function afterFailure(held: Held, { reason, message }: Failure): Next {
  const failures = held.committed ? 0 : held.failuresWithoutCheckpoint + 1;
  if (failureReasons[reason] === 'permanent') {
    return { state: 'failed', reason, message, failuresWithoutCheckpoint: failures, delayMs: 0 };
  }
  if (failureReasons[reason] === 'outside') {
    const state = held.otherwise === 'pause' ? 'paused' : 'failed';
    return { state, reason, message, failuresWithoutCheckpoint: 0, delayMs: 0 };
  }
  if (failures >= held.maxAttempts) {
    const limit = `${message} (given up: ${failures} attempts in a row ended without a new checkpoint, max_attempts is ${held.maxAttempts})`;
    return { state: 'failed', reason, message: limit, failuresWithoutCheckpoint: failures, delayMs: 0 };
  }
  const delayMs = Math.min(retryDelay.firstMs * 2 ** Math.max(0, failures - 1), retryDelay.capMs);
  const state = held.state === 'pausing' ? 'paused' : 'queued';
  return { state, reason, message, failuresWithoutCheckpoint: failures, delayMs };
}

export type Failure = Extract<Outcome, { type: 'failed' }>;

// Nobody asked for it: the runner stopped of its own accord, and another may go on.
export function asFailure(outcome: Exclude<Outcome, { type: 'succeeded' }>): Failure {
  if (outcome.type === 'failed') return outcome;
  return {
    type: 'failed',
    reason: 'runner_stopped',
    message: `the runner ended the attempt as ${outcome.type} although nobody had asked for it`,
  };
}
