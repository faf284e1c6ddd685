// Runner reports: applied once and whole, whatever they hold and however often they come.
import { describe, expect, test } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { getCheckpoint, listCheckpoints } from '../../db/checkpoints/get.ts';
import { listEvaluations } from '../../db/evaluations/list.ts';
import { logLimit } from '../../db/logs/append.ts';
import { readLog } from '../../db/logs/read.ts';
import { metricsAfter } from '../../db/metrics/page.ts';
import { expireLeases } from '../../db/queue/expire-leases.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import type { Fence } from '../../db/queue/fence.ts';
import { applyReport } from '../../db/reports/apply.ts';
import { listSamples } from '../../db/samples/list.ts';
import { useDatabase } from '../support/postgres.ts';
import { backdate, bodiesOf, checkpointAt, claimAgain, runningJob, seqsOf, upTo } from './support.ts';

const pg = useDatabase();

const at = (step: number) => ({ stage: 'sft', phase: 0, step });
const step = (number: number, metrics: Record<string, number | null>): Entry => ({
  type: 'step',
  ...at(number),
  mode: 'non_thinking',
  metrics,
});
const cell = {
  suite: 'digits',
  domain: 'math',
  mode: 'non_thinking',
  metric: 'avg@4',
  low: 0.1,
  high: 0.3,
  tasks: 50,
} as const;
const samples = (number: number, key: string): Entry => ({
  type: 'samples',
  ...at(number),
  key,
  rows: upTo(3).map((line) => ({
    line,
    task: line,
    rollout: 0,
    mode: 'non_thinking',
    status: 'scored',
    reward: 0.5,
  })),
});
const report = (fence: Fence, sequence: number, entries: Entry[], log = '') =>
  applyReport(pg.db, { ...fence, sequence, entries, log });

async function nextAttempt(fence: Fence): Promise<Fence> {
  await backdate(pg.db, fence.job);
  await expireLeases(pg.db);
  await backdate(pg.db, fence.job);
  return (await claimAgain(pg.db, fence)).fence;
}

describe('idempotency', () => {
  test('ten resends at once are applied once', async () => {
    const { fence } = await runningJob(pg.db);
    const entries = [
      step(1, { loss: 2 }),
      samples(1, 'k1'),
      { type: 'evaluation', after: 'initial', cells: [{ ...cell, value: 0.2 }] },
    ] as Entry[];
    const before = await seqsOf(pg.db, fence.job);
    const answers = await Promise.all(upTo(10).map(() => report(fence, 1, entries, 'line\n')));
    expect(answers.filter((answer) => answer !== 'lease_lost' && answer.applied)).toHaveLength(1);
    expect(await seqsOf(pg.db, fence.job)).toEqual(upTo(before.length + 3));
    expect(await metricsAfter(pg.db, fence.job, {}, undefined, 10)).toHaveLength(1);
    expect((await listSamples(pg.db, fence.job, {}, { limit: 10 })).rows).toHaveLength(3);
    expect(await readLog(pg.db, fence.job)).toEqual({ attempt: 1, text: 'line\n', dropped: 0 });
  });

  test('a report that fails half-way leaves nothing, and its resend is whole', async () => {
    const { fence } = await runningJob(pg.db);
    const before = await bodiesOf(pg.db, fence.job);
    const good = [step(1, { loss: 2 }), samples(1, 'k1')];
    const overflow = structuredClone(good);
    if (overflow[1]?.type === 'samples' && overflow[1].rows[0] !== undefined)
      overflow[1].rows[0].line = 2 ** 40;
    await expect(report(fence, 1, overflow, 'lost\n')).rejects.toThrow();
    expect(await bodiesOf(pg.db, fence.job)).toEqual(before);
    expect(await metricsAfter(pg.db, fence.job, {}, undefined, 10)).toEqual([]);
    expect(await report(fence, 1, good, 'kept\n')).toEqual({ applied: true });
    expect((await readLog(pg.db, fence.job))?.text).toBe('kept\n');
  });
});

describe('metrics', () => {
  test('a step done again replaces its points; an earlier attempt cannot', async () => {
    const { fence } = await runningJob(pg.db);
    await report(fence, 1, [step(1, { loss: 3, grad_norm: null }), step(2, { loss: 2 })]);
    const second = await nextAttempt(fence);
    await report(second, 1, [{ type: 'rewound', stage: 'sft', to_step: 1 }, step(2, { loss: 1.5 })]);
    const points = await metricsAfter(pg.db, fence.job, { key: 'loss', stage: 'sft' }, undefined, 10);
    expect(points.map(({ step: number, value, attempt }) => ({ number, value, attempt }))).toEqual([
      { number: 1, value: 3, attempt: 1 },
      { number: 2, value: 1.5, attempt: 2 },
    ]);
  });

  test('pages follow one another without loss, whatever the limit', async () => {
    const { fence } = await runningJob(pg.db);
    await report(
      fence,
      1,
      upTo(9).map((number) => step(number, { a: number, b: null, c: -number })),
    );
    const all = await metricsAfter(pg.db, fence.job, {}, undefined, 100);
    expect(all).toHaveLength(27);
    const paged: typeof all = [];
    for (;;) {
      const page = await metricsAfter(pg.db, fence.job, {}, paged.at(-1), 4);
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual(all);
  });

  test('a half_half step has points of the whole batch and of each mode; pages keep them apart', async () => {
    const { fence } = await runningJob(pg.db);
    const halves = { thinking: { reward: 0.75, a: 1 }, non_thinking: { reward: 0.25, a: null } };
    await report(
      fence,
      1,
      upTo(3).map((number) => ({
        ...step(number, { reward: 0.5, a: 2, lr: 1e-3 }),
        mode: 'half_half' as const,
        modes: halves,
      })),
    );
    const rewards = await metricsAfter(pg.db, fence.job, { key: 'reward' }, undefined, 100);
    expect(rewards.slice(0, 3).map(({ mode, value }) => [mode, value])).toEqual([
      ['half_half', 0.5],
      ['non_thinking', 0.25],
      ['thinking', 0.75],
    ]);
    expect(await metricsAfter(pg.db, fence.job, { mode: 'thinking', key: 'a' }, undefined, 100)).toHaveLength(
      3,
    );
    const all = await metricsAfter(pg.db, fence.job, {}, undefined, 100);
    expect(all).toHaveLength(3 * (3 + 2 + 2));
    const paged: typeof all = [];
    for (;;) {
      const page = await metricsAfter(pg.db, fence.job, {}, paged.at(-1), 1);
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual(all);
  });

  test('one point twice in a report: the last counts', async () => {
    const { fence } = await runningJob(pg.db);
    await report(fence, 1, [step(1, { loss: 3 }), step(1, { loss: 4 })]);
    expect(await metricsAfter(pg.db, fence.job, {}, undefined, 10)).toMatchObject([{ value: 4 }]);
  });

  test('a full report of 1000 steps', async () => {
    const { fence } = await runningJob(pg.db);
    const metrics = Object.fromEntries(upTo(12).map((n) => [`key_${n}`, n / 7]));
    expect(
      await report(
        fence,
        1,
        upTo(1000).map((number) => step(number, metrics)),
      ),
    ).toEqual({ applied: true });
    const last = await metricsAfter(pg.db, fence.job, { key: 'key_12' }, undefined, 1000);
    expect(last).toHaveLength(1000);
    expect(last.at(-1)).toMatchObject({ step: 1000, value: 12 / 7 });
  });
});

test('evaluations: the latest attempt fills the cell', async () => {
  const { fence } = await runningJob(pg.db);
  const evaluation = (value: number): Entry => ({
    type: 'evaluation',
    after: 'sft',
    cells: [{ ...cell, value }],
  });
  await report(fence, 1, [evaluation(0.2)]);
  const second = await nextAttempt(fence);
  await report(second, 1, [evaluation(0.25)]);
  expect(await listEvaluations(pg.db, fence.job)).toMatchObject([{ after: 'sft', value: 0.25, attempt: 2 }]);
});

test('evaluations: an end and the steps of a stage are places of their own; values of tasks come on demand', async () => {
  const { fence } = await runningJob(pg.db);
  const evaluation = (step: number | null, value: number): Entry => ({
    type: 'evaluation',
    after: 'sft',
    step,
    cells: [{ ...cell, value, values: [value, null] }],
  });
  await report(fence, 1, [evaluation(5, 0.1), evaluation(10, 0.2), evaluation(null, 0.3)]);
  const second = await nextAttempt(fence);
  await report(second, 1, [evaluation(10, 0.25), evaluation(null, 0.35)]);
  const places = async (values: boolean) =>
    (await listEvaluations(pg.db, fence.job, { values })).map((row) => [row.step, row.value, row.values]);
  expect(await places(false)).toEqual([
    [5, 0.1, null],
    [10, 0.25, null],
    [null, 0.35, null],
  ]);
  expect(await places(true)).toEqual([
    [5, 0.1, [0.1, null]],
    [10, 0.25, [0.25, null]],
    [null, 0.35, [0.35, null]],
  ]);
  const bodies = await bodiesOf(pg.db, fence.job);
  const told = bodies.flatMap((body) => (body.type === 'evaluation' ? body.cells : []));
  expect(told).toHaveLength(5);
  expect(told.every((one) => one.values === undefined)).toBe(true);
});

test('samples: of a step done twice the latest attempt is shown, pages run both ways', async () => {
  const { fence } = await runningJob(pg.db);
  await report(fence, 1, [samples(1, 'a1/s1'), samples(2, 'a1/s2')]);
  const second = await nextAttempt(fence);
  await report(second, 1, [samples(2, 'a2/s2')]);
  const { rows } = await listSamples(pg.db, fence.job, {}, { limit: 10 });
  expect(rows.map((row) => row.key)).toEqual([...upTo(3).map(() => 'a2/s2'), ...upTo(3).map(() => 'a1/s1')]);
  const older = await listSamples(pg.db, fence.job, {}, { limit: 2, after: rows[1]?.id });
  expect(older).toEqual({ rows: rows.slice(2, 4), hasMore: true });
  const newer = await listSamples(pg.db, fence.job, {}, { limit: 2, before: rows[2]?.id });
  expect(newer).toEqual({ rows: rows.slice(0, 2), hasMore: false });
  expect((await listSamples(pg.db, fence.job, { step: 1 }, { limit: 10 })).rows).toHaveLength(3);
});

describe('text that Postgres cannot keep', () => {
  test('NUL and lone surrogates arrive as U+FFFD, in events, metrics, logs and messages', async () => {
    const { fence } = await runningJob(pg.db);
    const cause = 'a\0b\ud800c';
    const entries: Entry[] = [
      { type: 'step_skipped', ...at(1), mode: 'non_thinking', cause, metrics: {} },
      step(1, { 'x\0': 1 }),
    ];
    expect(await report(fence, 1, entries, cause)).toEqual({ applied: true });
    await finishAttempt(pg.db, {
      ...fence,
      outcome: { type: 'failed', reason: 'diverged', message: cause },
      log: cause,
    });
    const clean = 'a\ufffdb\ufffdc';
    expect((await bodiesOf(pg.db, fence.job)).at(-1)).toMatchObject({ to: 'failed', message: clean });
    expect((await readLog(pg.db, fence.job))?.text).toBe(clean + clean);
    expect((await metricsAfter(pg.db, fence.job, {}, undefined, 10))[0]?.key).toBe('x\ufffd');
  });
});

describe('the log', () => {
  test('keeps the last mebibyte and says how much is gone', async () => {
    const { fence } = await runningJob(pg.db);
    const piece = 'ü'.repeat(120_000);
    for (const sequence of upTo(6)) await report(fence, sequence, [], `${sequence}${piece}`);
    const log = await readLog(pg.db, fence.job, 1);
    const whole = upTo(6)
      .map((sequence) => `${sequence}${piece}`)
      .join('');
    expect(whole.endsWith(log?.text ?? '-')).toBe(true);
    expect(Buffer.byteLength(log?.text ?? '')).toBeGreaterThan(logLimit - 2);
    expect(log?.dropped).toBe(Buffer.byteLength(whole) - Buffer.byteLength(log?.text ?? ''));
    const [kept] = await pg.sql`select sum(bytes)::int as bytes from log_pieces where job_id = ${fence.job}`;
    expect(kept?.['bytes']).toBeLessThan(logLimit + 240_001);
  });

  test('of each attempt its own, by default the latest', async () => {
    const { fence } = await runningJob(pg.db);
    await report(fence, 1, [], 'one');
    await report(await nextAttempt(fence), 1, [], 'two');
    expect((await readLog(pg.db, fence.job))?.text).toBe('two');
    expect((await readLog(pg.db, fence.job, 1))?.text).toBe('one');
    expect(await readLog(pg.db, fence.job, 9)).toBeUndefined();
  });
});

describe('checkpoints', () => {
  test('ten commits of one prefix at once make one checkpoint', async () => {
    const { fence } = await runningJob(pg.db);
    const commit = checkpointAt(fence, 10);
    const answers = await Promise.all(upTo(10).map(() => commitCheckpoint(pg.db, fence, commit)));
    const ids = new Set(answers.map((answer) => (typeof answer === 'string' ? answer : answer.id)));
    expect(ids.size).toBe(1);
    const id = [...ids][0] as string;
    expect(await getCheckpoint(pg.db, fence.projectId, id)).toMatchObject({ step: 10, files: commit.files });
    expect((await bodiesOf(pg.db, fence.job)).filter((body) => body.type === 'checkpoint')).toHaveLength(1);
    const other = { ...commit, manifest_sha256: 'd'.repeat(64) };
    expect(await commitCheckpoint(pg.db, fence, other)).toBe('conflict');
  });

  test('the next attempt resumes from the last one committed', async () => {
    const { fence } = await runningJob(pg.db);
    for (const number of [5, 10]) await commitCheckpoint(pg.db, fence, checkpointAt(fence, number));
    const second = await nextAttempt(fence);
    const { rows } = await listCheckpoints(pg.db, fence.projectId, fence.job, { limit: 10 });
    expect(rows.map((row) => row.step)).toEqual([10, 5]);
    expect((await bodiesOf(pg.db, second.job)).at(-1)).toMatchObject({ resumed_from: rows[0]?.id });
  });
});
