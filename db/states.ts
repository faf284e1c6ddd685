// The state table of jobs: every legal move, in one place. The database enforces it by a trigger whose
// SQL is made from this table (state-guard.ts), so that no statement and no hand can break it.
import { jobStates, terminalStates, type JobState } from '../api/contract/job.ts';

/** Where a job may go from each state; terminal states lead nowhere. */
export const moves: Readonly<Record<JobState, readonly JobState[]>> = {
  queued: ['running', 'paused', 'cancelled', 'failed'],
  running: ['queued', 'pausing', 'paused', 'cancelling', 'succeeded', 'failed'],
  // A pause that comes too late: the attempt may still end by itself.
  pausing: ['paused', 'cancelling', 'succeeded', 'failed'],
  paused: ['queued', 'cancelled', 'failed'],
  // Once asked, a cancel wins: whatever the runner says afterwards, the job ends as cancelled.
  cancelling: ['cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

export const initialState = 'queued' satisfies JobState;

/** States in which an attempt holds the job by a lease. */
export const heldStates = ['running', 'pausing', 'cancelling'] as const satisfies readonly JobState[];
export type HeldState = (typeof heldStates)[number];

export const liveStates = jobStates.filter(
  (state) => !(terminalStates as readonly JobState[]).includes(state),
);

export const isLegalMove = (from: JobState, to: JobState): boolean => moves[from].includes(to);
