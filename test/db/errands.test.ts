// Errands in the database: each claimed once whatever races, what is asked for first, fenced by the attempt, given back or ended when
// a runner is silent, and forgotten in the end.
import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ErrandOutcome, ErrandPayload } from '../../api/contract/errand.ts';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { claimErrand } from '../../db/errands/claim.ts';
import { expireErrands, forgetErrands } from '../../db/errands/expire.ts';
import { finishErrand } from '../../db/errands/finish.ts';
import { getErrand } from '../../db/errands/get.ts';
import { renewErrand, type ErrandFence } from '../../db/errands/hold.ts';
import { insertErrand } from '../../db/errands/insert.ts';
import { errands } from '../../db/errands/table.ts';
import { listenForEvents } from '../../db/events/listen.ts';
import { hasGrader } from '../../db/runners.ts';
import { useDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import {
  checkpointAt,
  insertProject,
  insertReadyDataset,
  insertRunner,
  leaseMs,
  runningJob,
  upTo,
} from './support.ts';

const pg = useDatabase();
let projectId: string;
let runner: string;
beforeEach(async () => {
  projectId = await insertProject(pg.db);
  runner = await insertRunner(pg.db, projectId, { grader: true });
});

const grading: ErrandPayload = {
  kind: 'grade',
  grader: { type: 'exact' },
  items: [{ task: { prompt: '1', answer: '1' }, response: '1' }],
};
const graded: ErrandOutcome = {
  type: 'graded',
  results: [{ index: 0, status: 'scored', value: 1, parts: {} }],
};

async function validating(): Promise<ErrandPayload> {
  const id = await insertReadyDataset(pg.db, projectId);
  const dataset = { id, kind: 'math' as const, key: 'k', size: 1, sha256: 'a'.repeat(64) };
  return { kind: 'validate', grader: { type: 'math' }, dataset };
}

const both = ['grade', 'validate'] as const;
const claim = (by = runner, kinds: readonly ('grade' | 'validate')[] = both) =>
  claimErrand(pg.db, { projectId, runner: by, kinds, leaseMs });

async function claimed(by = runner): Promise<ErrandFence> {
  const row = await claim(by);
  if (row === undefined || row === 'unknown_runner') throw new Error(`nothing was claimed: ${row}`);
  return { projectId, runner: by, errand: row.id, attempt: row.attempt };
}

const insert = (payload: ErrandPayload = grading) => insertErrand(pg.db, projectId, payload);
const backdate = (id: string, column: 'lease_expires_at' | 'created_at' | 'finished_at') =>
  pg.sql`update errands set ${pg.sql(column)} = ${pg.sql(column)} - interval '1 day' where id = ${id}`;

describe('claims', () => {
  test('20 claimers at once and 50 errands: each is claimed once', async () => {
    const ids = await Promise.all(upTo(50).map(() => insert()));
    const runners = await Promise.all(upTo(20).map(() => insertRunner(pg.db, projectId)));
    const taken: string[] = [];
    await Promise.all(
      runners.map(async (by) => {
        for (let row = await claim(by); row !== undefined; row = await claim(by))
          if (row !== 'unknown_runner') taken.push(row.id);
      }),
    );
    expect(taken.toSorted()).toEqual(ids.toSorted());
  });

  test('answers that somebody waits for come before datasets, the oldest first', async () => {
    const dataset = await insert(await validating());
    const first = await insert();
    await pg.sql`update errands set id = 'err_00000000000000000000000000' where id = ${first}`;
    const second = await insert();
    const order = [await claimed(), await claimed(), await claimed()].map(({ errand }) => errand);
    expect(order).toEqual(['err_00000000000000000000000000', second, dataset]);
    await pg.sql`delete from errands where id = 'err_00000000000000000000000000'`;
  });

  test('only of the kinds that there is room for, of the project, and with the languages', async () => {
    await insert();
    expect(await claim(runner, ['validate'])).toBeUndefined();
    const code = { type: 'code', language: 'python' } as const;
    await claimed();
    const id = await insert({ ...grading, grader: code });
    expect(await claim()).toBeUndefined();
    const other = await insertRunner(pg.db, projectId, { languages: ['javascript', 'python'] });
    const stranger = await insertProject(pg.db);
    const strange = await insertRunner(pg.db, stranger, { languages: ['python'] });
    expect(await claim(strange)).toBe('unknown_runner');
    expect((await claimed(other)).errand).toBe(id);
  });
});

test('the checkpoint that a grader scores with comes along while it is there', async () => {
  const { fence } = await runningJob(pg.db);
  const checkpoint = await commitCheckpoint(pg.db, fence, checkpointAt(fence, 1));
  if (typeof checkpoint === 'string') throw new Error(checkpoint);
  const preferring = async (model: string) => {
    const payload: ErrandPayload = { ...grading, grader: { type: 'preference', model } };
    await insertErrand(pg.db, fence.projectId, payload);
    const row = await claimErrand(pg.db, { ...fence, kinds: both, leaseMs });
    if (row === undefined || row === 'unknown_runner') throw new Error(`nothing was claimed: ${row}`);
    return row.rewardModel?.id;
  };
  expect(await preferring(checkpoint.id)).toBe(checkpoint.id);
  expect(await preferring('ckpt_00000000000000000000')).toBeUndefined();
  await insert();
  expect(await claim()).toMatchObject({ rewardModel: undefined });
});

test('a grader is there while its runner is heard of, with every language', async () => {
  const has = (languages: readonly 'python'[]) => hasGrader(pg.db, projectId, languages, leaseMs);
  expect([await has([]), await has(['python'])]).toEqual([true, false]);
  await insertRunner(pg.db, projectId, { languages: ['python'] });
  expect(await has(['python'])).toBe(false);
  const python = await insertRunner(pg.db, projectId, { grader: true, languages: ['python'] });
  expect(await has(['python'])).toBe(true);
  await pg.sql`update runners set last_seen_at = now() - interval '1 day' where id = ${python}`;
  expect(await has(['python'])).toBe(false);
});

describe('the fence', () => {
  const calls: Record<string, (fence: ErrandFence) => Promise<unknown>> = {
    heartbeat: (fence) => renewErrand(pg.db, fence, leaseMs),
    results: (fence) => finishErrand(pg.db, fence, graded),
    'giving back': (fence) =>
      finishErrand(pg.db, fence, { type: 'again', reason: 'runner_stopped', message: '' }),
  };
  const stale: Record<string, (fence: ErrandFence) => Promise<ErrandFence> | ErrandFence> = {
    'the attempt before': (fence) => ({ ...fence, attempt: 1 }),
    'an attempt to come': (fence) => ({ ...fence, attempt: 3 }),
    'another runner': async (fence) => ({ ...fence, runner: await insertRunner(pg.db, projectId) }),
    'another project': async (fence) => ({ ...fence, projectId: await insertProject(pg.db) }),
    'no errand': (fence) => ({ ...fence, errand: 'err_00000000000000000000000000' }),
  };
  describe.each(Object.entries(stale))('%s', (_who, makeFence) => {
    test.each(Object.entries(calls))('%s is refused and changes nothing', async (_what, call) => {
      const id = await insert();
      await finishErrand(pg.db, await claimed(), { type: 'again', reason: 'runner_stopped', message: '' });
      const fence = await claimed();
      expect(fence).toMatchObject({ errand: id, attempt: 2 });
      const before = await getErrand(pg.db, projectId, id);
      expect(await call(await makeFence(fence))).toBe('lease_lost');
      expect(await getErrand(pg.db, projectId, id)).toEqual(before);
      expect(await calls['heartbeat']!(fence)).toBe('held');
    });
  });

  test('a last word that is said again is answered as the first was, and nothing else follows it', async () => {
    const id = await insert();
    const fence = await claimed();
    expect(await finishErrand(pg.db, fence, graded)).toEqual({ state: 'succeeded' });
    expect(await finishErrand(pg.db, fence, graded)).toEqual({ state: 'succeeded' });
    expect(await renewErrand(pg.db, fence, leaseMs)).toBe('lease_lost');
    expect(await claim()).toBeUndefined();
    expect(await getErrand(pg.db, projectId, id)).toMatchObject({ results: graded.results, reason: null });
  });

  test('an outcome that the errand cannot have is refused', async () => {
    await insert();
    const fence = await claimed();
    const [result] = graded.type === 'graded' ? graded.results : [];
    const unfitting: ErrandOutcome[] = [
      { type: 'graded', results: [result!, { ...result!, index: 1 }] },
      { type: 'graded', results: [{ ...result!, index: 1 }] },
      {
        type: 'validated',
        report: { broken: 0, issues: [], unproven: 0, zero_maximum: { count: 0, rows: [] } },
      },
    ];
    for (const outcome of unfitting) expect(await finishErrand(pg.db, fence, outcome)).toBe('unfitting');
    expect(await finishErrand(pg.db, fence, graded)).toEqual({ state: 'succeeded' });
  });
});

describe('time', () => {
  test('a lease that runs out frees the errand; the third ends it', async () => {
    const id = await insert();
    for (const attempt of [1, 2, 3]) {
      const fence = await claimed();
      expect(fence.attempt).toBe(attempt);
      expect(await expireErrands(pg.db)).toEqual([]);
      await backdate(id, 'lease_expires_at');
      expect(await renewErrand(pg.db, fence, leaseMs)).toBe('held');
      await backdate(id, 'lease_expires_at');
      const state = attempt < 3 ? 'queued' : 'failed';
      expect(await expireErrands(pg.db)).toEqual([{ errand: id, attempt, state }]);
      if (attempt < 3) expect(await finishErrand(pg.db, fence, graded)).toBe('lease_lost');
    }
    expect(await getErrand(pg.db, projectId, id)).toMatchObject({ state: 'failed', reason: 'runner_lost' });
  });

  test('what was given back waits a while, longer each time; a runner that stopped keeps nobody waiting', async () => {
    const id = await insert();
    const waits: number[] = [];
    for (const reason of ['runner_stopped', 'reward_unavailable', 'store_unavailable'] as const) {
      await finishErrand(pg.db, await claimed(), { type: 'again', reason, message: 'why' });
      const [row] = await pg.sql<{ ms: number }[]>`
        select round(extract(epoch from available_at - now()))::int as ms from errands where id = ${id}`;
      waits.push(Math.max(0, row!.ms));
      if (reason !== 'runner_stopped') expect(await claim()).toBeUndefined();
      await pg.db
        .update(errands)
        .set({ availableAt: sql`now()` })
        .where(eq(errands.id, id));
    }
    expect(waits).toEqual([0, 2, 4]);
  });

  test('an errand is forgotten an hour after its end; one that nobody comes for fails', async () => {
    const [answered, waiting, young] = [await insert(), await insert(), await insert()];
    const dataset = await insert(await validating());
    const fence = await claimed();
    expect(fence.errand).toBe([answered, waiting, young].toSorted()[0]);
    await finishErrand(pg.db, fence, graded);
    await forgetErrands(pg.db);
    expect(await getErrand(pg.db, projectId, fence.errand)).toMatchObject({ state: 'succeeded' });
    await backdate(fence.errand, 'finished_at');
    const [stale, other] = [answered, waiting, young].filter((id) => id !== fence.errand);
    await backdate(stale!, 'created_at');
    await backdate(dataset, 'created_at');
    await forgetErrands(pg.db);
    expect(await getErrand(pg.db, projectId, fence.errand)).toBeUndefined();
    expect(await getErrand(pg.db, projectId, stale!)).toMatchObject({ state: 'failed', reason: 'expired' });
    for (const id of [other!, dataset])
      expect(await getErrand(pg.db, projectId, id)).toMatchObject({ state: 'queued' });
  });
});

test('listeners hear of the end', async () => {
  const heard: string[] = [];
  const unlisten = await listenForEvents(pg.sql, (id) => heard.push(id));
  const id = await insert();
  await finishErrand(pg.db, await claimed(), graded);
  await until(() => heard.includes(id));
  await unlisten();
});
