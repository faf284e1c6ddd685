// Refuses, when a job is posted, what no registered runner could ever hold, and makes the need a condition of claiming:
// a runner that is too small never gets the job. With no runner of the kind registered a job is taken: one may come.
import type { Database } from '../../db/connect.ts';
import { largestMemory } from '../../db/runners.ts';
import { gigabytes, memoryIssue } from '../contract/memory/need.ts';
import { specNeed } from '../contract/memory/spec-need.ts';
import type { ModelSizes } from '../contract/model-shape.ts';
import type { JobSpec } from '../contract/spec.ts';
import { ProblemError } from '../problem.ts';

export interface KnownSizes {
  readonly model: ModelSizes | undefined;
  /** By checkpoint. */
  readonly rewardModels: ReadonlyMap<string, ModelSizes>;
  /** By `teacherKey`. */
  readonly teachers: ReadonlyMap<string, ModelSizes>;
}

/** GB that a runner must have: what the spec asks for, or what the model takes where that is known and more. */
export async function memoryCondition(
  db: Database,
  projectId: string,
  spec: JobSpec,
  known: KnownSizes,
): Promise<number> {
  const { accelerator, min_memory_gb, runner_labels } = spec.resources;
  if (known.model === undefined) return min_memory_gb;
  const need = specNeed(spec, known.model, known);
  const largest = await largestMemory(db, projectId, { accelerator, labels: runner_labels });
  const issue = largest === undefined ? undefined : memoryIssue(need, largest);
  if (issue !== undefined) throw new ProblemError('insufficient_memory', issue.message, { issues: [issue] });
  return Math.max(min_memory_gb, gigabytes(need.bytes));
}
