// The last look at what a job refers to, in its own transaction: the database has locked what is there of it.
import type { JobRow } from '../../db/schema.ts';
import { checkpointsOf } from '../contract/expand.ts';
import { ProblemError } from '../problem.ts';

/** @throws ProblemError conflict where a checkpoint was deleted after the spec had been checked. */
export function checkHeld({ expanded, refersTo }: Pick<JobRow, 'expanded' | 'refersTo'>): void {
  const gone = checkpointsOf(expanded).find((id) => !refersTo.includes(id));
  if (gone !== undefined)
    throw new ProblemError('conflict', `checkpoint ${gone} was deleted while the job was being posted`);
}
