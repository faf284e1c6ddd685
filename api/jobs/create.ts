// From a parsed spec to a queued job: what it refers to is reached and resolved, what no runner could hold is refused. The
// same for whoever posts it, and in whatever form.
import type { Database } from '../../db/connect.ts';
import type { Answer } from '../../db/idempotency.ts';
import { insertJob } from '../../db/jobs/insert.ts';
import type { JobRow } from '../../db/schema.ts';
import type { Services } from '../context.ts';
import { rewardModelReferences } from '../contract/expand.ts';
import type { JobSpec, JobSpecInput } from '../contract/spec.ts';
import type { Keyed } from '../idempotency.ts';
import { answerOnce } from '../idempotency.ts';
import { memoryCondition } from './memory.ts';
import { reachModel } from './reach-model.ts';
import { resolveSpec } from './resolve.ts';
import { reachRewardModels } from './reward-models.ts';
import { reachTeachers } from './teachers.ts';

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
  const { db, allowPrivateAddresses } = services;
  const { projectId } = keyed;
  const model = await reachModel(services, projectId, spec);
  const rewardModels = await reachRewardModels(services, projectId, rewardModelReferences(spec));
  const teachers = await reachTeachers(services, projectId, spec, model);
  return answerOnce(db, keyed, async (tx) => {
    const expanded = await resolveSpec(tx, projectId, spec, {
      positions: model.positions,
      allowPrivateAddresses,
      rewardModels,
      teachers,
    });
    const known = { model: model.sizes, rewardModels: rewardModels.sizes, teachers: teachers.sizes };
    const minMemoryGb = await memoryCondition(tx, projectId, spec, known);
    return answer(tx, await insertJob(tx, { projectId, spec: asPosted, expanded, minMemoryGb }));
  });
}
