// Checkpoints that go: the row first, its objects by clock work (doomed_objects), all in one transaction. What somebody refers to stays,
// whoever asks. Locks are taken in the order job, checkpoint; a job that is posted holds what it names (migrations, job_filled).
import { and, eq, sql, type SQL } from 'drizzle-orm';
import { terminalStates } from '../../api/contract/job.ts';
import type { Database } from '../connect.ts';
import { checkpoints, type CheckpointRow } from '../schema.ts';

/** A text[] literal of ids, which have letters, digits and "_" only. */
export const idArray = (ids: readonly string[]): SQL => sql`${`{${ids.join(',')}}`}::text[]`;

const isTerminal = (state: SQL): SQL =>
  sql`${state} in (${sql.join(
    terminalStates.map((one) => sql.raw(`'${one}'`)),
    sql`, `,
  )})`;

/** Live jobs that name any of them: the condition is that of the index jobs_references. */
const liveReferrers = (ids: SQL): SQL =>
  sql`select id from jobs where not (${isTerminal(sql`state`)}) and refers_to <> '{}' and refers_to && ${ids}`;

/** Serving runners send a heartbeat every few seconds. */
const servingNow = (ids: SQL): SQL =>
  sql`select name from serving_runners where checkpoint_id = any (${ids}) and last_seen_at > now() - interval '2 minutes'`;

/** Of a job that has not ended: what it would go on from, and ends of stages, which later stages may learn from. */
const neededByOwnJob = (job: SQL, checkpoint: SQL): SQL =>
  sql`not (${isTerminal(sql`${job}.state`)}) and (${checkpoint}.kind in ('stage_end', 'final') or ${checkpoint}.id is not distinct from ${job}.last_checkpoint_id)`;

/** Who keeps these checkpoints, or a job with them, in words; pins are told of by the checkpoint. */
export async function keepersOf(tx: Database, ids: readonly string[], job?: string): Promise<string[]> {
  const all = idArray(ids);
  const rows = await tx.execute<{ keeper: string }>(sql`
    select 'job ' || id || ', which has not ended and names it' as keeper from (${liveReferrers(idArray(job === undefined ? ids : [...ids, job]))}) r
    union all select 'serving runner ' || name from (${servingNow(all)}) s
    union all select 'the pin of checkpoint ' || id from checkpoints where id = any (${all}) and pinned_at is not null
    union all select 'job ' || j.id || ', which has not ended and needs it itself' from checkpoints c join jobs j on j.id = c.job_id
      where c.id = any (${all}) and ${neededByOwnJob(sql`j`, sql`c`)}
    limit 10`);
  return rows.map(({ keeper }) => keeper);
}

/**
 * Removes those of a job that nobody keeps; how many. The caller has locked the job's row. A job whose last checkpoint goes has the
 * newest of the others as its last.
 */
export async function removeCheckpoints(
  tx: Database,
  jobId: string,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const all = idArray(ids);
  await tx.execute(
    sql`select id from checkpoints where job_id = ${jobId} and id = any (${all}) order by id for update`,
  );
  const gone = await tx.execute<{ id: string }>(sql`
    with gone as (
      delete from checkpoints c using jobs j
      where c.job_id = ${jobId} and j.id = c.job_id and c.id = any (${all}) and c.pinned_at is null
        and not exists (${liveReferrers(sql`array[c.id]`)}) and not exists (${servingNow(sql`array[c.id]`)})
        and not (${neededByOwnJob(sql`j`, sql`c`)})
      returning c.id, c.prefix
    ), doomed as (
      insert into doomed_objects (prefix) select prefix from gone
    )
    select id from gone`);
  if (gone.length === 0) return 0;
  await tx.execute(sql`
    update jobs set last_checkpoint_id = (
      select id from checkpoints where job_id = ${jobId} order by attempt desc, id desc limit 1)
    where id = ${jobId} and last_checkpoint_id = any (${idArray(gone.map(({ id }) => id))})`);
  return gone.length;
}

/** What keeps it, whether it is gone now, or undefined if the project has no such checkpoint. */
export async function deleteCheckpoint(
  db: Database,
  projectId: string,
  id: string,
): Promise<{ deleted: true } | { keptBy: string[] } | undefined> {
  return await db.transaction(async (tx) => {
    const [row] = await tx.execute<{ job_id: string }>(sql`
      select j.id as job_id from checkpoints c join jobs j on j.id = c.job_id
      where c.project_id = ${projectId} and c.id = ${id} for update of j`);
    if (row === undefined) return undefined;
    if ((await removeCheckpoints(tx, row.job_id, [id])) === 1) return { deleted: true };
    const keptBy = await keepersOf(tx, [id]);
    return keptBy.length === 0 ? undefined : { keptBy };
  });
}

/** The checkpoint as it then is; undefined if the project has no such. Pinning twice changes nothing. */
export async function pinCheckpoint(
  db: Database,
  projectId: string,
  id: string,
  pinned: boolean,
): Promise<CheckpointRow | undefined> {
  const [row] = await db
    .update(checkpoints)
    .set({ pinnedAt: pinned ? sql`coalesce(${checkpoints.pinnedAt}, now())` : null })
    .where(and(eq(checkpoints.projectId, projectId), eq(checkpoints.id, id)))
    .returning();
  return row;
}
