// Kept rollouts as clients ask for them. Of a step that several attempts have done, the latest one's count.
import { and, desc, eq, gt, lt, asc, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { toPage, type PageOf } from '../page.ts';
import { samples, type SampleRow } from '../schema.ts';

export interface SampleFilter {
  stage?: string | undefined;
  step?: number | undefined;
}

export interface SamplePageQuery {
  limit: number;
  after?: number | undefined;
  before?: number | undefined;
}

/** Newest first. */
export async function listSamples(
  db: Database,
  jobId: string,
  filter: SampleFilter,
  query: SamplePageQuery,
): Promise<PageOf<SampleRow>> {
  const backwards = query.before !== undefined;
  const rows = await db
    .select()
    .from(samples)
    .where(
      and(
        eq(samples.jobId, jobId),
        filter.stage === undefined ? undefined : eq(samples.stage, filter.stage),
        filter.step === undefined ? undefined : eq(samples.step, filter.step),
        query.before === undefined ? undefined : gt(samples.id, query.before),
        query.after === undefined || backwards ? undefined : lt(samples.id, query.after),
        sql`not exists (select 1 from samples later where later.job_id = ${samples.jobId} and later.stage = ${samples.stage}
          and later.step = ${samples.step} and later.phase = ${samples.phase} and later.attempt > ${samples.attempt})`,
      ),
    )
    .orderBy(backwards ? asc(samples.id) : desc(samples.id))
    .limit(query.limit + 1);
  return toPage(rows, { limit: query.limit, before: backwards ? 'given' : undefined });
}
