// The runner's last word about an attempt. A resend of the same word is answered as the first was.
import { and, eq, isNotNull } from 'drizzle-orm';
import type { JobState } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import type { Database } from '../connect.ts';
import { appendLog } from '../logs/append.ts';
import { reaches } from '../runners.ts';
import { attempts, jobs } from '../schema.ts';
import { endAttempt } from './end-attempt.ts';
import { lockHeld, type Fence, type LeaseLost } from './fence.ts';

export interface Finish extends Fence {
  outcome: Outcome;
  /** Last lines of the log. */
  log: string;
}

/** The state the job went to. */
export async function finishAttempt(db: Database, finish: Finish): Promise<{ state: JobState } | LeaseLost> {
  return await db.transaction(async (tx) => {
    const job = await lockHeld(tx, finish);
    if (job === 'lease_lost') return await formerFinish(tx, finish);
    await appendLog(tx, finish, finish.log);
    const { state } = await endAttempt(tx, job, finish.outcome);
    return { state };
  });
}

async function formerFinish(tx: Database, finish: Finish): Promise<{ state: JobState } | LeaseLost> {
  const [row] = await tx
    .select({ state: jobs.state, outcome: attempts.outcome, reason: attempts.reason })
    .from(attempts)
    .innerJoin(jobs, eq(jobs.id, attempts.jobId))
    .where(
      and(
        eq(attempts.jobId, finish.job),
        eq(attempts.attempt, finish.attempt),
        reaches(finish, attempts.projectId),
        eq(attempts.runnerId, finish.runner),
        isNotNull(attempts.endedAt),
      ),
    );
  const reason = finish.outcome.type === 'failed' ? finish.outcome.reason : null;
  if (row?.outcome !== finish.outcome.type || row.reason !== reason) return 'lease_lost';
  return { state: row.state };
}
