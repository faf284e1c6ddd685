// Jobs as clients ask for them: one, or a page of them.
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { JobState } from '../../api/contract/job.ts';
import type { Database } from '../connect.ts';
import { storableJson } from '../json.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from '../page.ts';
import { jobs, type JobRow } from '../schema.ts';

/** Undefined if the project has no such job. */
export async function getJob(db: Database, projectId: string, id: string): Promise<JobRow | undefined> {
  const [row] = await db
    .select()
    .from(jobs)
    .where(and(eq(jobs.projectId, projectId), eq(jobs.id, id)));
  return row;
}

export interface JobFilter {
  states?: readonly JobState[] | undefined;
  type?: JobRow['type'] | undefined;
  /** Every label must be there with this value. */
  labels?: Record<string, string> | undefined;
}

/** Newest first. */
export async function listJobs(
  db: Database,
  projectId: string,
  filter: JobFilter,
  query: PageQuery,
): Promise<PageOf<JobRow>> {
  const { where, order, take } = pageWindow(jobs.id, query);
  const wanted = and(
    eq(jobs.projectId, projectId),
    filter.states === undefined ? undefined : inArray(jobs.state, [...filter.states]),
    filter.type === undefined ? undefined : eq(jobs.type, filter.type),
    filter.labels === undefined ? undefined : sql`${jobs.labels} @> ${storableJson(filter.labels)}::jsonb`,
    where,
  );
  return toPage(await db.select().from(jobs).where(wanted).orderBy(order).limit(take), query);
}
