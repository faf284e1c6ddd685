// Points of series, from the `step` entries of a report. A step done again by a later attempt replaces its points.
import { sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { storableJson } from '../json.ts';
import type { MetricRow } from '../schema.ts';

export type NewMetric = Omit<MetricRow, 'projectId' | 'jobId' | 'attempt'>;

/** One statement whatever the number of points: they travel as one JSON parameter. */
export async function recordMetrics(
  db: Database,
  of: { job: string; attempt: number; projectId: string },
  points: readonly NewMetric[],
): Promise<void> {
  if (points.length === 0) return;
  await db.execute(sql`
    insert into metrics (job_id, project_id, attempt, stage, phase, step, mode, key, value, seq)
    select ${of.job}, ${of.projectId}, ${of.attempt}, stage, phase, step, mode, key, value, seq
    from jsonb_to_recordset(${storableJson(latest(points))}::jsonb) as point
      (stage text, phase integer, step integer, mode text, key text, value double precision, seq bigint)
    on conflict (job_id, stage, phase, step, mode, key) do update
      set value = excluded.value, attempt = excluded.attempt, seq = excluded.seq
      where metrics.attempt <= excluded.attempt`);
}

// One statement may not touch a row twice: of points with one key the last one counts.
function latest(points: readonly NewMetric[]): NewMetric[] {
  const keyed = points.map((point) => {
    const { stage, phase, step, mode, key } = point;
    return [JSON.stringify([stage, phase, step, mode, key]), point] as const;
  });
  return [...new Map(keyed).values()];
}
