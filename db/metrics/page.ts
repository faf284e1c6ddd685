// Series as clients read them: oldest first, in the order in which the points came.
import { and, asc, eq, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { metrics, type MetricRow } from '../schema.ts';

export interface MetricFilter {
  key?: string | undefined;
  stage?: string | undefined;
  mode?: MetricRow['mode'] | undefined;
}

/** Place of a point in its job: the event that brought it, and mode and key within that event. */
export type MetricCursor = Pick<MetricRow, 'seq' | 'mode' | 'key'>;

/** The points that follow `after` (undefined: from the first), `limit` at most. */
export async function metricsAfter(
  db: Database,
  jobId: string,
  filter: MetricFilter,
  after: MetricCursor | undefined,
  limit: number,
): Promise<MetricRow[]> {
  const wanted = and(
    eq(metrics.jobId, jobId),
    filter.key === undefined ? undefined : eq(metrics.key, filter.key),
    filter.stage === undefined ? undefined : eq(metrics.stage, filter.stage),
    filter.mode === undefined ? undefined : eq(metrics.mode, filter.mode),
    after === undefined
      ? undefined
      : sql`(${metrics.seq}, ${metrics.mode}, ${metrics.key}) > (${after.seq}::bigint, ${after.mode}, ${after.key})`,
  );
  return await db
    .select()
    .from(metrics)
    .where(wanted)
    .orderBy(asc(metrics.seq), asc(metrics.mode), asc(metrics.key))
    .limit(limit);
}
