// Event numbers: no gap and no duplicate with parallel writers, aborted transactions and state changes
// among them; nothing after the terminal event; listeners hear of news.
import { expect, test } from 'vitest';
import { appendEvents } from '../../db/events/append.ts';
import { listenForEvents } from '../../db/events/listen.ts';
import { eventsAfter } from '../../db/events/page.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { useDatabase } from '../support/postgres.ts';
import { insertJob, insertProject, runningJob, seqsOf, upTo } from './support.ts';

const pg = useDatabase();

const skipped = (cause: string) =>
  ({
    type: 'step_skipped',
    stage: 'sft',
    phase: 0,
    step: 1,
    mode: 'non_thinking',
    cause,
    metrics: {},
  }) as const;

test('parallel writers, some of which abort, leave neither gap nor duplicate', async () => {
  const { fence } = await runningJob(pg.db);
  const before = (await seqsOf(pg.db, fence.job)).length;
  const cut = new Error('aborted on purpose');
  const write = async (writer: number): Promise<number> => {
    let kept = 0;
    for (let turn = 0; turn < 10; turn++) {
      const bodies = upTo(1 + ((writer + turn) % 3)).map((n) => skipped(`${writer}.${turn}.${n}`));
      const aborts = (writer + turn) % 4 === 0;
      const done = pg.db.transaction(async (tx) => {
        await appendEvents(tx, fence.job, fence.attempt, bodies);
        if (aborts) throw cut;
      });
      await (aborts ? expect(done).rejects.toBe(cut) : done);
      if (!aborts) kept += bodies.length;
    }
    return kept;
  };
  const kept = await Promise.all([
    ...upTo(8).map(write),
    cancelJob(pg.db, fence.projectId, fence.job).then(() => 1),
  ]);
  const total = before + kept.reduce((sum, count) => sum + count, 0);
  expect(await seqsOf(pg.db, fence.job)).toEqual(upTo(total));
});

test('a reader that asks for what follows never misses an event that commits late', async () => {
  const { fence } = await runningJob(pg.db);
  const seen: number[] = [];
  let writing = true;
  const read = async (): Promise<void> => {
    while (writing || (await eventsAfter(pg.db, fence.job, seen.at(-1) ?? 0, 1)).length > 0) {
      const page = await eventsAfter(pg.db, fence.job, seen.at(-1) ?? 0, 7);
      seen.push(...page.map((event) => event.seq));
    }
  };
  const write = async (): Promise<void> => {
    for (let n = 0; n < 40; n++)
      await appendEvents(pg.db, fence.job, 1, [skipped(String(n)), skipped('again')]);
  };
  const reader = read();
  await Promise.all(upTo(4).map(write));
  writing = false;
  await reader;
  expect(seen).toEqual(await seqsOf(pg.db, fence.job));
});

test('the first number is returned, and a job that has ended takes none', async () => {
  const { fence } = await runningJob(pg.db);
  expect(await appendEvents(pg.db, fence.job, 1, [skipped('a'), skipped('b')])).toBe(4);
  expect(await appendEvents(pg.db, fence.job, 1, [skipped('c')])).toBe(6);
  await finishAttempt(pg.db, { ...fence, outcome: { type: 'succeeded' }, log: '' });
  expect(await appendEvents(pg.db, fence.job, 1, [skipped('late')])).toBeUndefined();
  expect(await appendEvents(pg.db, 'job_00000000000000000000000000', 1, [skipped('x')])).toBeUndefined();
});

test('two numbers of one job cannot be taken twice even by hand', async () => {
  const { fence } = await runningJob(pg.db);
  const twice = pg.sql`insert into events select * from events where job_id = ${fence.job}`;
  await expect(twice).rejects.toMatchObject({ code: '23505' });
});

test('NOTIFY names the job, once for each batch', async () => {
  const heard: string[] = [];
  const stop = await listenForEvents(pg.sql, (job) => void heard.push(job));
  const id = await insertJob(pg.db, { projectId: await insertProject(pg.db) });
  await appendEvents(pg.db, id, 0, [skipped('a'), skipped('b')]);
  await expect.poll(() => heard.filter((payload) => payload === id), { timeout: 10_000 }).toHaveLength(2);
  await stop();
});
