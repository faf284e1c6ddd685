// Whose job a shared runner takes: of the projects that have one for it and room to run it, the one with the fewest running for
// its weight; among equals the one that was served longest ago.
import { sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import type { RunnerRow } from '../schema.ts';
import { heldStates } from '../states.ts';
import { claimable } from './columns.ts';
import { fits } from './free-job.ts';

const held = sql.join(
  heldStates.map((state) => sql.raw(`'${state}'`)),
  sql`, `,
);

export interface ProjectInTurn {
  id: string;
  limited: boolean;
}

/** The one to be served first comes first. A reckoning of this moment: two runners that ask at once get the same one. */
export async function projectsInTurn(tx: Database, runner: RunnerRow): Promise<ProjectInTurn[]> {
  const rows = await tx.execute<{ id: string; limited: boolean }>(sql`
    with recursive present (project_id, requirements) as (
      (select project_id, requirements from jobs where ${claimable} order by project_id, requirements limit 1)
      union all
      select next.project_id, next.requirements from present cross join lateral (
        select project_id, requirements from jobs
        where ${claimable} and (project_id, requirements) > (present.project_id, present.requirements)
        order by project_id, requirements limit 1
      ) as next
    ), waiting as (
      select distinct project_id from present join requirements on requirements.id = present.requirements
      where ${fits(runner)}
    ), busy as (
      select project_id, count(*) as n from jobs where state in (${held}) group by project_id
    )
    select projects.id, projects.max_running is not null as limited from waiting
    join projects on projects.id = waiting.project_id
    left join busy on busy.project_id = waiting.project_id
    where projects.max_running is null or coalesce(busy.n, 0) < projects.max_running
    order by coalesce(busy.n, 0) / projects.weight, projects.served_at nulls first, projects.id`);
  return rows.map(({ id, limited }) => ({ id, limited }));
}

/** Left out where another claim is writing it down: nobody waits for that. */
export async function noteServed(tx: Database, projectId: string): Promise<void> {
  await tx.execute(sql`
    update projects set served_at = now()
    where id = (select id from projects where id = ${projectId} for no key update skip locked)`);
}
