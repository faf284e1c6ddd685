// The free job of a project with the smallest ordering key that fits a runner, locked. What runners must have are few combinations:
// the first jobs of each that fits are looked at, so jobs that do not fit cost nothing, however many there are.
import { sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { storableJson } from '../json.ts';
import { runners, type RunnerRow } from '../schema.ts';
import { claimable } from './columns.ts';

/** Jobs of one combination that are looked at: more than other claims can have locked, at the second try. */
const widths = [16, 1_024] as const;

/** Its id; undefined if there is none. Rows that another claim has locked are skipped, never waited for. */
export async function lockFreeJob(
  tx: Database,
  projectId: string,
  runner: RunnerRow,
): Promise<string | undefined> {
  for (const width of widths) {
    const rows = await tx.execute<{ id: string }>(sql`
      with recursive present (requirements) as (
        (select requirements from jobs where project_id = ${projectId} and ${claimable} order by requirements limit 1)
        union all
        select (
          select requirements from jobs
          where project_id = ${projectId} and ${claimable} and requirements > present.requirements
          order by requirements limit 1
        ) from present where present.requirements is not null
      ), first as (
        select job.id, job.ordering_key
        from present join requirements on requirements.id = present.requirements
        cross join lateral (
          select id, ordering_key from jobs
          where project_id = ${projectId} and requirements = present.requirements and ${claimable}
          order by ordering_key limit ${sql.raw(String(width))}
        ) as job
        where ${fits(runner)}
      )
      select jobs.id from first join jobs on jobs.id = first.id
      where ${claimable}
      order by first.ordering_key, jobs.id limit 1
      for no key update of jobs skip locked`);
    if (rows[0] !== undefined) return rows[0].id;
  }
  return undefined;
}

/** Whether a runner has what a row of `requirements` says. */
export const fits = (runner: RunnerRow) => sql`
  requirements.accelerator = ${runner.accelerator} and requirements.min_memory_gb <= ${runner.memoryGb}
  and requirements.runner_labels <@ ${storableJson(runner.labels)}::jsonb
  and requirements.languages <@ ${sql.param(runner.languages, runners.languages)}`;
