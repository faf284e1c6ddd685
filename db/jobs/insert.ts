// A new job: the row is the queue entry. Its first event is written by the database (state-guard.ts).
import { sql } from 'drizzle-orm';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { datasetsOf, neededLanguages } from '../../api/contract/expand.ts';
import { SPEC_VERSION, type JobSpecInput } from '../../api/contract/spec.ts';
import type { Database } from '../connect.ts';
import { newId } from '../ids.ts';
import { jobNeeds } from '../queue/tables.ts';
import { jobs, type JobRow } from '../schema.ts';

export interface NewJob {
  projectId: string;
  /** As posted. */
  spec: JobSpecInput;
  expanded: ExpandedSpec;
  /** GB that a runner must have to claim it; what the spec asks for where not given. */
  minMemoryGb?: number;
  /** Jobs that it waits for, locked by the caller. */
  unmetNeeds?: readonly string[];
  /** What it goes on from, where it is a retry or a fork. */
  begins?: Beginning;
}

export interface Beginning {
  retryOf?: string;
  forkOf?: string;
  /** Null where the job before it had committed none. */
  checkpoint: string | null;
  passedGates: readonly number[];
  /** Of a spec that is taken over as it stands; the present one where not given. */
  specVersion?: number;
}

/** The job, `queued`, behind all jobs of its priority that wait. */
export async function insertJob(db: Database, job: NewJob): Promise<JobRow> {
  const { expanded, unmetNeeds = [], begins } = job;
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
      specVersion: begins?.specVersion ?? SPEC_VERSION,
      priority: expanded.priority,
      orderingKey: orderingKey(expanded.priority),
      accelerator: expanded.resources.accelerator,
      minMemoryGb: job.minMemoryGb ?? expanded.resources.min_memory_gb,
      runnerLabels: expanded.resources.runner_labels,
      datasetIds: datasetsOf(expanded),
      languages: neededLanguages(expanded),
      maxAttempts: expanded.max_attempts,
      unmetNeeds: unmetNeeds.length,
      ...(begins && beginningOf(begins)),
    })
    .returning();
  if (row === undefined) throw new Error('internal: the insert of a job returned no row');
  if (unmetNeeds.length > 0)
    await db.insert(jobNeeds).values(unmetNeeds.map((needsId) => ({ jobId: row.id, needsId })));
  return row;
}

const beginningOf = ({ retryOf, forkOf, checkpoint, passedGates }: Beginning) => ({
  retryOf: retryOf ?? null,
  forkOf: forkOf ?? null,
  beganFrom: checkpoint,
  lastCheckpointId: checkpoint,
  passedGates: [...passedGates],
});

/** One step of priority is worth an hour of waiting: a job that waits overtakes, in the end, any that are posted after it. */
export const priorityStepMs = 3_600_000;

// A moment in microseconds, by the database's clock.
function orderingKey(priority: number) {
  return sql<number>`(extract(epoch from clock_timestamp()) * 1000000)::bigint - ${priority}::bigint * ${priorityStepMs * 1000}::bigint`;
}
