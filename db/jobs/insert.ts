// A new job: the row is the queue entry. Its first event is written by the database (state-guard.ts).
import { sql } from 'drizzle-orm';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { datasetsOf, neededLanguages } from '../../api/contract/expand.ts';
import { SPEC_VERSION, type JobSpecInput } from '../../api/contract/spec.ts';
import type { Database } from '../connect.ts';
import { newId } from '../ids.ts';
import { jobs, type JobRow } from '../schema.ts';

export interface NewJob {
  projectId: string;
  /** As posted. */
  spec: JobSpecInput;
  expanded: ExpandedSpec;
  /** GB that a runner must have to claim it; what the spec asks for where not given. */
  minMemoryGb?: number;
}

/** The job, `queued`, behind all jobs of its priority that wait. */
export async function insertJob(db: Database, job: NewJob): Promise<JobRow> {
  const { expanded } = job;
  const [row] = await db
    .insert(jobs)
    .values({
      id: newId('job'),
      projectId: job.projectId,
      type: expanded.type,
      name: expanded.name ?? null,
      labels: expanded.labels,
      spec: job.spec,
      expanded,
      specVersion: SPEC_VERSION,
      priority: expanded.priority,
      orderingKey: orderingKey(expanded.priority),
      accelerator: expanded.resources.accelerator,
      minMemoryGb: job.minMemoryGb ?? expanded.resources.min_memory_gb,
      runnerLabels: expanded.resources.runner_labels,
      datasetIds: datasetsOf(expanded),
      languages: neededLanguages(expanded),
      maxAttempts: expanded.max_attempts,
    })
    .returning();
  if (row === undefined) throw new Error('internal: the insert of a job returned no row');
  return row;
}

/** One step of priority is worth an hour of waiting: a job that waits overtakes, in the end, any that are posted after it. */
export const priorityStepMs = 3_600_000;

// A moment in microseconds, by the database's clock.
function orderingKey(priority: number) {
  return sql<number>`(extract(epoch from clock_timestamp()) * 1000000)::bigint - ${priority}::bigint * ${priorityStepMs * 1000}::bigint`;
}
