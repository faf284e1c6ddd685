// Index rows of kept rollouts, from the `samples` entries of a report; the text lies in the store.
import { sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { storableJson } from '../json.ts';
import type { SampleRow } from '../schema.ts';

export type NewSample = Omit<SampleRow, 'id' | 'projectId' | 'jobId' | 'attempt'>;

/** One statement whatever the number of rows; a line that is indexed already stays as it is. */
export async function recordSamples(
  db: Database,
  of: { job: string; attempt: number; projectId: string },
  rows: readonly NewSample[],
): Promise<void> {
  if (rows.length === 0) return;
  await db.execute(sql`
    insert into samples (job_id, project_id, attempt, stage, phase, step, key, line, task, rollout, mode, status, reward)
    select ${of.job}, ${of.projectId}, ${of.attempt}, stage, phase, step, key, line, task, rollout, mode, status, reward
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as given
      (stage text, phase integer, step integer, key text, line integer, task integer, rollout integer, mode text, status text, reward double precision)
    on conflict (job_id, key, line) do nothing`);
}
