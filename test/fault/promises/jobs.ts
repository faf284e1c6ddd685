// Promises that the database can tell of: no accepted job is lost, each ends as it should and once, each history is whole.
import type postgres from 'postgres';
import type { EventBody } from '../../../api/contract/event.ts';
import type { JobState } from '../../../api/contract/job.ts';
import type { History } from './history.ts';
import { breachesOf } from './history.ts';

/** A job whose 201 somebody has seen. */
export interface Accepted {
  readonly id: string;
  readonly name: string;
  /** The states in which it may be left, as things were asked of it and answered. */
  readonly mayEndAs: readonly JobState[];
}

interface JobRecord {
  readonly id: string;
  readonly state: JobState;
  readonly reason: string | null;
  readonly message: string | null;
  readonly event_seq: string;
  readonly attempt: number;
}

export async function historiesOf(sql: postgres.Sql): Promise<History[]> {
  const jobs = await sql<JobRecord[]>`select id, state, event_seq, attempt from jobs order by id`;
  return await Promise.all(jobs.map((job) => historyOf(sql, job)));
}

async function historyOf(sql: postgres.Sql, { id, state, event_seq, attempt }: JobRecord): Promise<History> {
  const events = await sql<{ seq: string; attempt: number; body: string }[]>`
    select seq, attempt, body::text as body from events where job_id = ${id} order by seq`;
  const attempts = await sql<{ attempt: number; outcome: string | null }[]>`
    select attempt, outcome from attempts where job_id = ${id} order by attempt`;
  const parsed = events.map((event) => ({
    seq: Number(event.seq),
    attempt: event.attempt,
    body: JSON.parse(event.body) as EventBody,
  }));
  return { id, state, eventSeq: Number(event_seq), attempt, events: parsed, attempts: [...attempts] };
}

export const historyBreaches = (histories: readonly History[]): string[] => histories.flatMap(breachesOf);

/** Of accepted jobs that are gone or ended otherwise than they may, and of jobs that nobody was told of. */
export async function endBreaches(sql: postgres.Sql, accepted: readonly Accepted[]): Promise<string[]> {
  const rows = await sql<JobRecord[]>`select id, state, reason, message, event_seq, attempt from jobs`;
  const kept = new Map(rows.map((row) => [row.id, row]));
  const breaches = accepted.flatMap(({ id, name, mayEndAs }) => {
    const row = kept.get(id);
    if (row === undefined) return [`${id} (${name}): accepted and lost`];
    if (mayEndAs.includes(row.state)) return [];
    const why = row.message === null ? '' : `: ${row.reason}: ${row.message}`;
    return [`${id} (${name}): is ${row.state}, may be ${mayEndAs.join(' or ')}${why}`];
  });
  const known = new Set(accepted.map(({ id }) => id));
  const doubles = rows
    .filter(({ id }) => !known.has(id))
    .map(({ id }) => `${id}: a job that no answer named`);
  return [...breaches, ...doubles];
}

/** What a terminal state was when it was first seen, held against what it is. */
export function changedEnds(seen: ReadonlyMap<string, JobState>, histories: readonly History[]): string[] {
  return histories.flatMap(({ id, state }) => {
    const before = seen.get(id);
    return before === undefined || before === state ? [] : [`${id}: was ${before} for good, and is ${state}`];
  });
}
