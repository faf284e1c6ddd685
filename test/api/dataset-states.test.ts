// A dataset from its registration to ready or invalid: what is known at once, what a runner proves, the jobs that wait for it, and its
// end. A runner is played by the protocol itself.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Dataset, GoldReport } from '../../api/contract/dataset.ts';
import type { ErrandClaim, ErrandOutcome } from '../../api/contract/errand.ts';
import type { Problem } from '../../api/contract/problem.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { createDuplicates } from '../../api/datasets/duplicates.ts';
import { mathRows, sftRows, spec, useApi } from './support.ts';

const api = useApi();
const exact = '{"type":"exact"}';
let runner: string;
beforeAll(async () => {
  await api.client().createDataset({ name: 'sft', kind: 'sft' }, sftRows);
  const known = { protocol: 1, name: 'g', accelerator: 'cpu', memory_gb: 8, version: '1' } as const;
  ({ runner } = await api.client().runner.register({ ...known, grader: true }));
});

let names = 0;
const register = (query: object = {}, rows = mathRows): Promise<Dataset> =>
  api.client().createDataset({ name: `d${(names += 1)}`, kind: 'math', ...query }, rows);
const jsonl = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

async function claim(): Promise<ErrandClaim> {
  const { claim: claimed } = await api.client().runner.claimErrand({ runner, kinds: ['validate'] });
  if (claimed === null) throw new Error('nothing to claim');
  return claimed;
}

async function finish({ errand, attempt }: ErrandClaim, outcome: ErrandOutcome): Promise<void> {
  await api.client().runner.finishErrand({ runner, errand, attempt, outcome });
}

const good: GoldReport = { broken: 0, issues: [], unproven: 0, zero_maximum: { count: 0, rows: [] } };
const bad: GoldReport = {
  ...good,
  broken: 1,
  issues: [{ row: 1, pointer: '', message: 'the gold "4" gets 0 of 1' }],
};

const jobOn = (data: string): JobSpecInput =>
  spec({
    stages: [{ kind: 'math', data, steps: 2, max_response: 8, grader: { type: 'exact' } }],
    evaluate: undefined,
  });

describe('what needs no runner', () => {
  test.each([
    ['exact', exact, 0],
    ['prefix', '{"type":"prefix"}', 1],
  ])('%s: gold equals itself; rows that are worth nothing are reported', async (_type, grader, zero) => {
    const rows = [...mathRows.trim().split('\n'), '{"prompt":"end","answer":""}'].join('\n');
    expect(await register({ grader }, rows)).toMatchObject({
      state: 'ready',
      grader: JSON.parse(grader) as object,
      report: { rows: 3, broken: 0, unproven: 0, zero_maximum: { count: zero, rows: zero === 0 ? [] : [2] } },
    });
  });

  test.each([
    ['sft', sftRows],
    ['preference', '{"prompt":"p","chosen":"a","rejected":"b"}'],
  ])('%s rows have no gold that could be proven', async (kind, rows) => {
    const dataset = await register({ kind }, rows);
    expect(dataset).toMatchObject({ state: 'ready', grader: null, report: { rows: 1, unproven: 1 } });
  });

  test('prompts that come again are reported, whatever follows them', async () => {
    const rows = jsonl([
      ...Array.from({ length: 30 }, (_, at) => ({ prompt: `p${at % 5}`, answer: at })),
      { prompt: [{ role: 'user', content: 'p0' }], answer: 1 },
    ]);
    const { report } = await register({ grader: exact }, rows);
    expect(report.duplicates.count).toBe(25);
    expect(report.duplicates.pairs).toHaveLength(20);
    expect(report.duplicates.pairs[6]).toEqual({ row: 11, first: 1 });
    const { report: none } = await register({ grader: exact });
    expect(none.duplicates).toEqual({ count: 0, pairs: [] });
    const message = (role: string, content: string) => ({ role, content });
    const chat = (answer: string) => ({ messages: [message('user', 'hi'), message('assistant', answer)] });
    expect((await register({ kind: 'sft' }, jsonl([chat('a'), chat('b')]))).report.duplicates.count).toBe(1);
  });

  test('of more prompts than can be remembered the later ones are only compared', () => {
    const duplicates = createDuplicates(8);
    for (let at = 0; at < 20; at++) duplicates.add(at, String(at % 10));
    expect(duplicates.report()).toEqual({
      count: 4,
      pairs: [0, 1, 2, 3].map((first) => ({ row: first + 10, first })),
    });
  });
});

describe('a grader that', () => {
  test.each([
    ['is no JSON', '{', '/grader'],
    ['is none', '{"type":"mood"}', '/grader/type'],
    ['grades rows of another kind', '{"type":"swe"}', '/grader/type'],
    ['lacks a field', '{"type":"code"}', '/grader/language'],
  ])('%s is refused with its place', async (_what, grader, pointer) => {
    const query = new URLSearchParams({ name: 'refused', kind: 'math', grader });
    const response = await api.request('POST', `/v1/datasets?${query}`, { body: mathRows });
    const problem = (await response.json()) as Problem;
    expect([response.status, problem.code, problem.issues?.[0]?.pointer]).toEqual([
      400,
      'invalid_query',
      pointer,
    ]);
  });
});

describe('what a runner proves', () => {
  test('becomes ready, with what was found in its report', async () => {
    const dataset = await register();
    expect(dataset).toMatchObject({ state: 'validating', grader: { type: 'math' }, message: null });
    const claimed = await claim();
    const { id, kind, size, sha256 } = dataset;
    const key = `datasets/${id}/rows.jsonl`;
    const payload = { kind: 'validate', grader: { type: 'math' }, dataset: { id, kind, key, size, sha256 } };
    expect(claimed.payload).toEqual(payload);
    expect(await api.client().errand(claimed.errand)).toMatchObject({ kind: 'validate', dataset: id });
    await finish(claimed, { type: 'validated', report: { ...good, unproven: 1 } });
    expect(await api.client().dataset(id)).toMatchObject({
      state: 'ready',
      message: null,
      report: { rows: 2, broken: 0, unproven: 1, duplicates: { count: 0 } },
    });
  });

  test('becomes invalid, the rows named; the same rows again are proven again', async () => {
    const { id, name } = await register();
    await finish(await claim(), { type: 'validated', report: bad });
    expect(await api.client().dataset(id)).toMatchObject({
      state: 'invalid',
      message:
        'grader "math" cannot grade 1 of 2 rows, or does not give their gold the maximum: rows 1; row 1: the gold "4" gets 0 of 1',
      report: bad,
    });
    const posted = await api.request('POST', '/v1/jobs', { json: jobOn(id) });
    expect([posted.status, ((await posted.json()) as Problem).issues?.[0]?.pointer]).toEqual([
      422,
      '/stages/0/data',
    ]);
    const again = await register({ name });
    expect([again.state, again.id === id]).toEqual(['validating', false]);
    expect((await register({ name })).id).toBe(again.id);
    await finish(await claim(), { type: 'validated', report: good });
    expect((await register({ name, grader: exact })).id).toBe(again.id);
  });

  test('waits while it cannot be proven, and says why', async () => {
    const { id } = await register();
    await finish(await claim(), { type: 'again', reason: 'store_unavailable', message: 'the store is away' });
    expect(await api.client().dataset(id)).toMatchObject({
      state: 'validating',
      message: expect.stringContaining('the store is away'),
    });
    await api.database.sql`update errands set available_at = now()`;
    await finish(await claim(), { type: 'validated', report: good });
    expect(await api.client().dataset(id)).toMatchObject({ state: 'ready', message: null });
  });

  test('is invalid where it ends every grader', async () => {
    const { id } = await register();
    await finish(await claim(), { type: 'failed', reason: 'grader_crashed', message: 'it died 2 times' });
    expect(await api.client().dataset(id)).toMatchObject({
      state: 'invalid',
      message: 'its gold could not be proven: it died 2 times',
    });
  });

  test('without a runner that could: it waits, and what to do is said', async () => {
    const rows = jsonl([{ prompt: 'p', tests: 't', solution: 's' }]);
    const dataset = await register({ kind: 'code' }, rows);
    expect(dataset).toMatchObject({
      state: 'validating',
      grader: { type: 'code', language: 'python' },
      message: expect.stringMatching(/no runner with a back end for python is alive.*millrace runner/),
    });
    expect(await api.client().dataset(dataset.id)).toMatchObject({ message: dataset.message });
    await expect(claim()).rejects.toThrow('nothing to claim');
    await api.client().deleteDataset(dataset.id);
  });
});

describe('jobs', () => {
  const claimJob = async () => (await api.client().runner.claim({ runner })).claim?.job;

  test('wait until their dataset is ready', async () => {
    const { id } = await register();
    const job = await api.client().createJob(jobOn(id));
    expect(await claimJob()).toBeUndefined();
    await finish(await claim(), { type: 'validated', report: good });
    expect(await claimJob()).toBe(job.id);
  });

  test('fail with a dataset that is invalid, and name it', async () => {
    const { id, name } = await register();
    const job = await api.client().createJob(jobOn(name));
    const other = await api.client().createJob(jobOn((await register({ grader: exact })).id));
    await finish(await claim(), { type: 'validated', report: bad });
    const message = expect.stringContaining(
      `dataset ${name} (${id}) is invalid: grader "math" cannot grade 1 of 2 rows`,
    ) as string;
    expect(await api.client().job(job.id)).toMatchObject({
      state: 'failed',
      reason: 'invalid_data',
      message,
    });
    const events = (await api.client().eventsPage(job.id)).data;
    expect(events.at(-1)?.body).toMatchObject({
      type: 'state',
      to: 'failed',
      reason: 'invalid_data',
      message,
    });
    expect(await claimJob()).toBe(other.id);
  });

  test('that are posted while a dataset is decided about are not left waiting', async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await register();
      const claimed = await claim();
      const [posted] = await Promise.all([
        api.request('POST', '/v1/jobs', { json: jobOn(id) }),
        finish(claimed, { type: 'validated', report: bad }),
      ]);
      if (posted.status === 422) continue;
      const { id: job } = (await posted.json()) as { id: string };
      expect((await api.client().job(job)).state).toBe('failed');
    }
  });

  test('whose graders run code are claimed only by a runner with the language', async () => {
    const rows = jsonl([{ prompt: 'p', tests: 't' }]);
    const { id } = await register({ kind: 'code' }, rows);
    await api.database.sql`update datasets set state = 'ready' where id = ${id}`;
    const suite = { name: 'c', data: id, grader: { type: 'code', language: 'python' } };
    const plain = spec({ stages: [{ kind: 'sft', data: 'sft', steps: 1 }], evaluate: { suites: [suite] } });
    const job = await api.client().createJob(plain);
    expect(await claimJob()).toBeUndefined();
    const known = { protocol: 1, accelerator: 'cpu', memory_gb: 8, version: '1' } as const;
    const able = await api.client().runner.register({ ...known, name: 'py', languages: ['python'] });
    expect((await api.client().runner.claim({ runner: able.runner })).claim?.job).toBe(job.id);
  });
});

describe('DELETE', () => {
  const remove = (id: string, key = api.keys.admin) => api.request('DELETE', `/v1/datasets/${id}`, { key });

  test('takes row, rows and errand away', async () => {
    const { id } = await register();
    const claimed = await claim();
    expect((await remove(id, api.strangerKey)).status).toBe(404);
    expect((await remove(id, api.keys.read)).status).toBe(403);
    expect((await remove(id)).status).toBe(204);
    expect((await remove(id)).status).toBe(404);
    expect((await api.request('GET', `/v1/datasets/${id}`)).status).toBe(404);
    expect(await api.store.head(`datasets/${id}/rows.jsonl`)).toBeUndefined();
    await expect(finish(claimed, { type: 'validated', report: good })).rejects.toMatchObject({
      code: 'lease_lost',
    });
  });

  test('not while a job that has not ended names it', async () => {
    const { id } = await register({ grader: exact });
    const job = await api.client().createJob(jobOn(id));
    const response = await remove(id);
    expect([response.status, ((await response.json()) as Problem).detail]).toEqual([
      409,
      expect.stringContaining(job.id),
    ]);
    await api.client().cancelJob(job.id);
    expect((await remove(id)).status).toBe(204);
  });

  test('or a job is posted at the same moment: one of them wins', async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await register({ grader: exact });
      const [removed, posted] = await Promise.all([
        remove(id),
        api.request('POST', '/v1/jobs', { json: jobOn(id) }),
      ]);
      expect([`${removed.status} ${posted.status}`]).toEqual([expect.stringMatching(/^(204 422|409 201)$/)]);
    }
  });
});
