// What of another project looks exactly like what does not exist.
import type { Database } from '../../db/connect.ts';
import { getJob } from '../../db/jobs/get.ts';
import type { JobRow } from '../../db/schema.ts';
import type { Caller } from '../middleware/auth.ts';
import { notFound } from '../problem.ts';

/** @throws ProblemError not_found. */
export async function theJob(db: Database, caller: Caller, id: string): Promise<JobRow> {
  const job = await getJob(db, caller.projectId, id);
  if (job === undefined) throw notFound('job', id);
  return job;
}
