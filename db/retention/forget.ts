// What is forgotten of jobs that ended long ago, a bounded number of rows at once. Their states stay, the terminal one among them.
import { sql } from 'drizzle-orm';
import { removeCheckpoints } from '../checkpoints/remove.ts';
import type { Database } from '../connect.ts';

export interface EndedJob {
  id: string;
  /** To go on after it. */
  position: string;
}

/** Jobs that ended so long ago, in the order of their ends, from a position on. */
export async function jobsEnded(
  db: Database,
  agoMs: number,
  position: string | null,
  limit: number,
): Promise<EndedJob[]> {
  const [at = '-infinity', after = ''] = position?.split('|') ?? [];
  const rows = await db.execute<{ id: string; finished_at: string }>(sql`
    select id, finished_at::text from jobs
    where finished_at < now() - ${agoMs} * interval '1 millisecond' and (finished_at, id) > (${at}::timestamptz, ${after}::text)
    order by finished_at, id limit ${limit}`);
  return rows.map((row) => ({ id: row.id, position: `${row.finished_at}|${row.id}` }));
}

/** Of an ended job: events other than its states, numbers of reports, log. How many rows went: `limit` means that there may be more. */
export async function forgetEvents(db: Database, jobId: string, limit: number): Promise<number> {
  const rows = await db.execute<{ rows: number }>(sql`
    with told as (
      delete from events where job_id = ${jobId} and seq in (
        select seq from events where job_id = ${jobId} and body ->> 'type' <> 'state' limit ${limit})
      returning 1
    ), reported as (
      delete from runner_reports where ctid in (select ctid from runner_reports where job_id = ${jobId} limit ${limit}) returning 1
    ), logged as (
      delete from log_pieces where ctid in (select ctid from log_pieces where job_id = ${jobId} limit ${limit}) returning 1
    )
    select greatest((select count(*) from told), (select count(*) from reported), (select count(*) from logged))::int as rows`);
  return rows[0]?.rows ?? 0;
}

/** Whole shards, with their objects; how many shards. */
export async function forgetSamples(db: Database, jobId: string, limit: number): Promise<number> {
  const rows = await db.execute(sql`
    with shards as materialized (
      select distinct key from samples where job_id = ${jobId} order by key limit ${limit}
    ), gone as (
      delete from samples s using shards where s.job_id = ${jobId} and s.key = shards.key
    )
    insert into doomed_objects (prefix) select key from shards returning id`);
  return rows.length;
}

/** Every checkpoint of an ended job but its last one, and those that somebody keeps; how many. */
export async function forgetCheckpoints(db: Database, jobId: string): Promise<number> {
  return await db.transaction(async (tx) => {
    const rows = await tx.execute<{ id: string }>(sql`
      select c.id from jobs j join checkpoints c on c.job_id = j.id
      where j.id = ${jobId} and c.id is distinct from j.last_checkpoint_id
      order by c.id limit 500 for update of j skip locked`);
    return await removeCheckpoints(
      tx,
      jobId,
      rows.map(({ id }) => id),
    );
  });
}
