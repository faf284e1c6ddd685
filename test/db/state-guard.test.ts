// The state table against the trigger: every pair of states, and the migration against the table.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jobStates, terminalStates } from '../../api/contract/job.ts';
import { stateGuardSql } from '../../db/state-guard.ts';
import { isLegalMove, liveStates } from '../../db/states.ts';
import { useDatabase } from '../support/postgres.ts';
import { insertJob, insertProject, seqsOf } from './support.ts';

const pg = useDatabase();

describe('the state table', () => {
  test('terminal states lead nowhere, live states lead somewhere', () => {
    expect(terminalStates.flatMap((from) => jobStates.filter((to) => isLegalMove(from, to)))).toEqual([]);
    for (const from of liveStates) expect(jobStates.some((to) => isLegalMove(from, to))).toBe(true);
  });

  test('the newest guard migration is made from it', () => {
    const folder = resolve(import.meta.dirname, '../../db/migrations');
    const newest = readdirSync(folder)
      .filter((name) => name.endsWith('_job_guard.sql'))
      .sort()
      .at(-1);
    expect(newest).toBeDefined();
    expect(readFileSync(resolve(folder, newest as string), 'utf8')).toBe(stateGuardSql());
  });
});

describe('the database guards the moves', () => {
  const pairs = jobStates.flatMap((from) =>
    jobStates.filter((to) => to !== from).map((to) => ({ from, to })),
  );

  test.each(pairs)('$from to $to', async ({ from, to }) => {
    const project = await insertProject(pg.db);
    const id = await insertJob(pg.db, { projectId: project, state: from });
    const before = await seqsOf(pg.db, id);
    const move = pg.sql`update jobs set state = ${to} where id = ${id}`;
    if (isLegalMove(from, to)) {
      await move;
      const events = await pg.sql`select body from events where job_id = ${id} order by seq`;
      expect(events).toHaveLength(before.length + 1);
      expect(events.at(-1)?.['body']).toMatchObject({ type: 'state', from, to });
      return;
    }
    const terminal = (terminalStates as readonly string[]).includes(from);
    await expect(move).rejects.toMatchObject({
      constraint_name: terminal ? 'job_terminal_state' : 'job_legal_move',
    });
    expect(await seqsOf(pg.db, id)).toEqual(before);
  });

  test.each(jobStates.filter((state) => state !== 'queued'))('a job cannot be born %s', async (state) => {
    const project = await insertProject(pg.db);
    const id = await insertJob(pg.db, { projectId: project });
    const birth = pg.sql`insert into jobs select (jsonb_populate_record(null::jobs,
      to_jsonb(j) || ${JSON.stringify({ id: `${id}x`, state })}::text::jsonb)).* from jobs j where id = ${id}`;
    await expect(birth).rejects.toMatchObject({ constraint_name: 'job_initial_state' });
  });

  test.each(terminalStates)('nothing follows the terminal event of a %s job', async (state) => {
    const project = await insertProject(pg.db);
    const id = await insertJob(pg.db, { projectId: project, state });
    await expect(pg.sql`update jobs set event_seq = event_seq + 1 where id = ${id}`).rejects.toMatchObject({
      constraint_name: 'job_terminal_state',
    });
  });
});
