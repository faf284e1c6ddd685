// From a parsed spec to a queued job and its answer. The same for whoever posts it, and in whatever form.
import type { Database } from '../../db/connect.ts';
import type { Answer } from '../../db/idempotency.ts';
import type { JobRow } from '../../db/schema.ts';
import type { Services } from '../context.ts';
import type { JobSpec, JobSpecInput } from '../contract/spec.ts';
import type { Keyed } from '../idempotency.ts';
import { answerOnce } from '../idempotency.ts';
import { insertPosted, reach } from './post.ts';

export interface NewJobRequest {
  readonly keyed: Keyed;
  readonly spec: JobSpec;
  readonly asPosted: JobSpecInput;
  /** What the client gets, worked out in the transaction that inserts the job. */
  answer(tx: Database, row: JobRow): Promise<Answer> | Answer;
}

/** The answer; of an Idempotency-Key that was used before, the first one. @throws ProblemError. */
export async function createJob(
  services: Services,
  { keyed, spec, asPosted, answer }: NewJobRequest,
): Promise<Answer> {
  const posted = { projectId: keyed.projectId, spec, asPosted };
  const reached = await reach(services, posted);
  return answerOnce(services.db, keyed, async (tx) =>
    answer(tx, await insertPosted(tx, services, posted, reached)),
  );
}
