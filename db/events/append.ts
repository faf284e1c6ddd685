// Events get their numbers under the lock of the job's row: no gap, no duplicate, whatever races or
// aborts, and commit order is number order, so a reader that asks for "after n" never misses one.
import { sql } from 'drizzle-orm';
import type { EventBody } from '../../api/contract/event.ts';
import { terminalStates } from '../../api/contract/job.ts';
import type { Database } from '../connect.ts';
import { storableJson } from '../json.ts';

/**
 * Appends the events in order and returns the number of the first; the rest follow without a gap.
 * Undefined if the job does not exist or has ended: nothing follows the terminal event.
 */
export async function appendEvents(
  db: Database,
  jobId: string,
  attempt: number,
  bodies: readonly EventBody[],
): Promise<number | undefined> {
  const rows = await db.execute<{ first: string | null }>(sql`
    with numbered as (
      update jobs set event_seq = event_seq + ${bodies.length}
      where id = ${jobId} and state not in (${sql.join(
        terminalStates.map((state) => sql`${state}`),
        sql`, `,
      )})
      returning id, project_id, event_seq - ${bodies.length} as last
    ), appended as (
      insert into events (job_id, seq, project_id, attempt, body)
      select id, last + position, project_id, ${attempt}, body
      from numbered, jsonb_array_elements(${storableJson(bodies)}::jsonb) with ordinality as given (body, position)
    )
    select last + 1 as first from numbered`);
  const first = rows[0]?.first;
  return first === undefined || first === null ? undefined : Number(first);
}
