// Points of a job by their steps, whatever their series.
import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { metrics, type MetricRow } from '../schema.ts';

/** Of these steps (undefined: of all), in their order. */
export async function metricsOfSteps(
  db: Database,
  jobId: string,
  steps?: readonly number[],
): Promise<Pick<MetricRow, 'step' | 'key' | 'value'>[]> {
  if (steps?.length === 0) return [];
  return await db
    .select({ step: metrics.step, key: metrics.key, value: metrics.value })
    .from(metrics)
    .where(and(eq(metrics.jobId, jobId), steps && inArray(metrics.step, [...steps])))
    .orderBy(asc(metrics.step), asc(metrics.key));
}
