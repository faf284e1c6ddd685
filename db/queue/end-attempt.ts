// The end of an attempt, for whatever cause, in the caller's transaction: its row is closed, a failure is
// told, the job moves on. The job's row must be locked by the caller.
import { and, eq, sql } from 'drizzle-orm';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import type { Gate } from '../../api/contract/gate.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import type { Database } from '../connect.ts';
import { appendEvents } from '../events/append.ts';
import { attempts, jobs } from '../schema.ts';
import { afterAttempt, asFailure, isWanted, type Failure, type Next } from './after-attempt.ts';
import type { HeldJob } from './fence.ts';

/** Returns where the job went. The event of a failed attempt comes before that of the state. */
export async function endAttempt(tx: Database, job: HeldJob, outcome: Outcome): Promise<Next> {
  const closed = await closeAttempt(tx, job, outcome);
  const held = { ...job, committed: closed.checkpoints > 0, otherwise: otherwiseOf(job, outcome) };
  const next = afterAttempt(held, outcome);
  const retryAt = new Date(closed.now.getTime() + next.delayMs);
  if (outcome.type !== 'succeeded' && !isWanted(job.state, outcome)) {
    const { reason, message } = asFailure(outcome);
    const retry_at = next.state === 'queued' ? retryAt.toISOString() : null;
    await appendEvents(tx, job.id, job.attempt, [{ type: 'attempt_failed', reason, message, retry_at }]);
  }
  const ended = next.state !== 'queued' && next.state !== 'paused';
  await tx
    .update(jobs)
    .set({
      state: next.state,
      reason: next.reason,
      message: next.message,
      failuresWithoutCheckpoint: next.failuresWithoutCheckpoint,
      availableAt: retryAt,
      passedGates: passedGates(job, next, outcome),
      runnerId: null,
      leaseExpiresAt: null,
      ranMs: sql`${jobs.ranMs} + ${closed.ranMs}`,
      finishedAt: ended ? sql`now()` : null,
    })
    .where(and(eq(jobs.id, job.id), eq(jobs.attempt, job.attempt), eq(jobs.state, job.state)));
  return next;
}

/** What the gate that failed wants, or the spec where rewards stay away. Specs from before there was a choice have none. */
const otherwiseOf = ({ expanded }: HeldJob, outcome: Outcome): 'pause' | 'fail' =>
  afterGate(failedGate(expanded, outcome)) ??
  (expanded as Partial<ExpandedSpec>).rewards?.otherwise ??
  'pause';

/** One that distils has repaired before it failed: what is left is somebody's decision. */
const afterGate = (gate: Gate | undefined): 'pause' | 'fail' | undefined =>
  gate?.otherwise === 'distill' ? 'pause' : gate?.otherwise;

const failedGate = ({ gates }: Partial<ExpandedSpec>, outcome: Outcome): Gate | undefined =>
  outcome.type === 'failed' && outcome.gate !== undefined ? gates?.[outcome.gate] : undefined;

/** With the gate whose pause this is: whoever resumes the job passes it. */
function passedGates(job: HeldJob, next: Next, outcome: Outcome): number[] {
  const paused = next.state === 'paused' && next.reason === 'gate_failed';
  if (!paused || failedGate(job.expanded, outcome) === undefined) return job.passedGates;
  return [...new Set([...job.passedGates, (outcome as Failure).gate!])];
}

async function closeAttempt(
  tx: Database,
  job: HeldJob,
  outcome: Outcome,
): Promise<{ checkpoints: number; now: Date; ranMs: number }> {
  const failure = outcome.type === 'failed' ? outcome : undefined;
  const [row] = await tx
    .update(attempts)
    .set({
      endedAt: sql`now()`,
      outcome: outcome.type,
      reason: failure?.reason ?? null,
      message: failure?.message ?? null,
    })
    .where(and(eq(attempts.jobId, job.id), eq(attempts.attempt, job.attempt)))
    .returning({ checkpoints: attempts.checkpoints, began: attempts.startedAt, now: attempts.endedAt });
  if (row === undefined || row.now === null)
    throw new Error(`internal: job ${job.id} has no row for its attempt ${job.attempt}`);
  const { checkpoints, began, now } = row;
  return { checkpoints, now, ranMs: now.getTime() - began.getTime() };
}
