// Cancel, pause, resume, by whichever route they are asked for: the job as it is then, or why it could not be moved.
import type { Database } from '../../db/connect.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import { pauseJob } from '../../db/queue/pause.ts';
import { resumeJob } from '../../db/queue/resume.ts';
import type { JobRow } from '../../db/schema.ts';
import type { Caller } from '../middleware/auth.ts';
import { ProblemError } from '../problem.ts';
import { theJob } from './find.ts';

/** @throws ProblemError not_found, conflict. */
export async function cancel(db: Database, caller: Caller, id: string): Promise<JobRow> {
  const moved = await cancelJob(db, caller.projectId, id);
  const row = await theJob(db, caller, id);
  if (moved === undefined && row.state !== 'cancelling' && row.state !== 'cancelled')
    throw new ProblemError('conflict', `job ${id} has ended already: its state is ${row.state}`);
  return row;
}

/** @throws ProblemError not_found, conflict. */
export async function pause(db: Database, caller: Caller, id: string): Promise<JobRow> {
  const moved = await pauseJob(db, caller.projectId, id);
  const row = await theJob(db, caller, id);
  if (moved === undefined && row.state !== 'pausing' && row.state !== 'paused')
    throw new ProblemError('conflict', `job ${id} cannot be paused: its state is ${row.state}`);
  return row;
}

/** @throws ProblemError not_found, still_pausing, conflict. */
export async function resume(db: Database, caller: Caller, id: string): Promise<JobRow> {
  const resumed = await resumeJob(db, caller.projectId, id);
  const row = await theJob(db, caller, id);
  if (!resumed && row.state === 'pausing')
    throw new ProblemError(
      'still_pausing',
      `job ${id} is pausing: its runner keeps what it has learnt; resume the job once its state is paused`,
    );
  if (!resumed && row.state !== 'queued' && row.state !== 'running')
    throw new ProblemError('conflict', `job ${id} is not paused: its state is ${row.state}`);
  return row;
}
