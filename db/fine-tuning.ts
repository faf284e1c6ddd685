// Jobs that were posted in OpenAI's form, with what only that form asks about.
import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { fineTuningJobs, type FineTuningRow } from './fine-tuning/table.ts';
import { storableJson } from './json.ts';
import type { PageOf } from './page.ts';
import { jobs, type JobRow } from './schema.ts';

export interface FineTuning {
  asked: FineTuningRow;
  job: JobRow;
  /** A dataset of the job is still being proven. */
  validating: boolean;
  /** Sum over all steps; null where no step has said it. */
  tokens: number | null;
}

const validating = sql<boolean>`exists (
  select from datasets where datasets.id = any(${jobs.datasetIds}) and datasets.state = 'validating')`;

const tokens = sql<number | null>`(
  select sum(value) from metrics where metrics.job_id = ${jobs.id} and metrics.key = 'tokens')`;

const columns = { asked: fineTuningJobs, job: jobs, validating, tokens };

export async function insertFineTuning(db: Database, row: FineTuningRow): Promise<void> {
  await db.insert(fineTuningJobs).values(row);
}

/** Undefined if the project has no such job, or it was posted in our own form. */
export async function getFineTuning(
  db: Database,
  projectId: string,
  id: string,
): Promise<FineTuning | undefined> {
  const [row] = await db
    .select(columns)
    .from(fineTuningJobs)
    .innerJoin(jobs, eq(jobs.id, fineTuningJobs.jobId))
    .where(and(eq(fineTuningJobs.projectId, projectId), eq(fineTuningJobs.jobId, id)));
  return row;
}

export interface FineTuningQuery {
  limit: number;
  after?: string | undefined;
  /** Every entry must be there with this value; null: there must be none. */
  metadata?: Record<string, string> | null | undefined;
}

/** Newest first. */
export async function listFineTuning(
  db: Database,
  projectId: string,
  { limit, after, metadata }: FineTuningQuery,
): Promise<PageOf<FineTuning>> {
  const rows = await db
    .select(columns)
    .from(fineTuningJobs)
    .innerJoin(jobs, eq(jobs.id, fineTuningJobs.jobId))
    .where(
      and(
        eq(fineTuningJobs.projectId, projectId),
        after === undefined ? undefined : lt(fineTuningJobs.jobId, after),
        metadata === undefined ? undefined : withMetadata(metadata),
      ),
    )
    .orderBy(desc(fineTuningJobs.jobId))
    .limit(limit + 1);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

const withMetadata = (metadata: Record<string, string> | null) =>
  metadata === null
    ? sql`coalesce(${fineTuningJobs.metadata}, '{}') = '{}'`
    : sql`${fineTuningJobs.metadata} @> ${storableJson(metadata)}::jsonb`;
