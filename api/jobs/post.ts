// From a posted spec to a row: what it names is reached (store, HTTP) before the transaction, and looked up within it.
import type { Database } from '../../db/connect.ts';
import type { Beginning } from '../../db/jobs/insert.ts';
import { insertJob } from '../../db/jobs/insert.ts';
import type { JobRow } from '../../db/schema.ts';
import type { Services } from '../context.ts';
import type { ExpandedSpec } from '../contract/expand.ts';
import { rewardModelReferences } from '../contract/expand.ts';
import type { JobSpec, JobSpecInput } from '../contract/spec.ts';
import { checkHeld } from './held.ts';
import { memoryCondition } from './memory.ts';
import { reachNeeds } from './needs.ts';
import { reachModel } from './reach-model.ts';
import { resolveSpec } from './resolve.ts';
import { reachRewardModels } from './reward-models.ts';
import { reachTeachers } from './teachers.ts';

export interface Posted {
  readonly projectId: string;
  readonly spec: JobSpec;
  readonly asPosted: JobSpecInput;
}

export type Reached = Awaited<ReturnType<typeof reach>>;

/** @throws ProblemError invalid_spec where something is not as the spec says. */
export async function reach(services: Services, { projectId, spec }: Posted) {
  const model = await reachModel(services, projectId, spec);
  const rewardModels = await reachRewardModels(services, projectId, rewardModelReferences(spec));
  const teachers = await reachTeachers(services, projectId, spec, model);
  return { model, rewardModels, teachers };
}

export interface Continued {
  readonly begins: Beginning;
  /** The expanded spec with what has been run already as it was run. */
  readonly over: (expanded: ExpandedSpec) => ExpandedSpec;
}

/** The job, queued. @throws ProblemError invalid_spec, insufficient_memory, conflict. */
export async function insertPosted(
  tx: Database,
  { allowPrivateAddresses }: Services,
  { projectId, spec, asPosted }: Posted,
  { model, rewardModels, teachers }: Reached,
  continued?: Continued,
): Promise<JobRow> {
  const needs = await reachNeeds(tx, projectId, spec.needs);
  const expanded = await resolveSpec(tx, projectId, spec, {
    positions: model.positions,
    allowPrivateAddresses,
    rewardModels,
    teachers,
    needs,
  });
  const known = { model: model.sizes, rewardModels: rewardModels.sizes, teachers: teachers.sizes };
  const minMemoryGb = await memoryCondition(tx, projectId, spec, known);
  const row = await insertJob(tx, {
    projectId,
    spec: asPosted,
    expanded: continued === undefined ? expanded : continued.over(expanded),
    minMemoryGb,
    unmetNeeds: needs.unmet,
    ...(continued && { begins: continued.begins }),
  });
  checkHeld(row);
  return row;
}
