// How the whole service stands at this moment, for whoever watches it: one statement, bounded in time, over all projects.
import { sql } from 'drizzle-orm';
import { liveStates } from './states.ts';
import type { Database } from './connect.ts';

/** A point of a gauge; which labels it has is the reader's to know. */
export interface GaugeRow {
  readonly gauge: 'jobs' | 'jobs_oldest' | 'paused' | 'waiting' | 'runners' | 'errands' | 'errands_oldest';
  readonly one: string;
  readonly two: string;
  readonly value: number;
}

const limitMs = 2_000;

/** Events that say what a running job is at: the newest of them decides whether it waits for rewards. */
const telling = ['reward_waiting', 'reward_resumed', 'step', 'step_skipped', 'evaluation', 'attempt_started'];

/** Throws the database's own error, also where it takes longer than 2 s. */
export async function readGauges(db: Database, aliveMs: number): Promise<GaugeRow[]> {
  return await db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('statement_timeout', ${String(limitMs)}, true)`);
    const rows = await tx.execute(sql`
      with live as (
        select id, state, accelerator, coalesce(reason, '') as reason,
          case when state = 'queued' then greatest(created_at, available_at) else coalesce(started_at, created_at) end as since
        from jobs where state in ${[...liveStates]}
      ), last_told as (
        select live.accelerator, (
          select recent.type from (
            select body ->> 'type' as type, seq from events where job_id = live.id order by seq desc limit 20
          ) recent where recent.type in ${telling} order by recent.seq desc limit 1
        ) as type from live where state = 'running'
      )
      select 'jobs' as gauge, state as one, accelerator as two, count(*)::float8 as value from live group by 2, 3
      union all select 'jobs_oldest', state, accelerator, greatest(0, extract(epoch from now() - min(since)))::float8 from live group by 2, 3
      union all select 'paused', reason, '', count(*)::float8 from live where state = 'paused' group by 2
      union all select 'waiting', accelerator, '', count(*)::float8 from last_told where type = 'reward_waiting' group by 2
      union all select 'runners', accelerator, '', count(*)::float8 from runners
        where last_seen_at > now() - ${aliveMs} * interval '1 millisecond' group by 2
      union all select 'errands', kind, state, count(*)::float8 from errands where state in ('queued', 'running') group by 2, 3
      union all select 'errands_oldest', kind, '', extract(epoch from now() - min(created_at))::float8 from errands where state = 'queued' group by 2
    `);
    return rows as unknown as GaugeRow[];
  });
}
