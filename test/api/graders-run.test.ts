// Grading over HTTP: what is refused and where, who must be there, waiting for the results or asking for them later. A runner is
// played by the protocol itself.
import { beforeEach, describe, expect, test } from 'vitest';
import type { ErrandClaim } from '../../api/contract/errand.ts';
import type { GradeResult } from '../../api/contract/grade.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { useApi } from './support.ts';

// Polling alone would take an hour: what comes at once comes by a hint.
const api = useApi({ timing: { pollMs: 3_600_000 }, limits: { gradeBytes: 300_000 } });

const path = '/v1/graders/run';
const item = { task: { prompt: '1+1=', answer: '2' }, response: '2' };
const request = (items: unknown = [item], grader: unknown = { type: 'exact' }) => ({ grader, items });

async function register(changes: object = {}): Promise<string> {
  const runner = { protocol: 1, name: 'g', accelerator: 'cpu', memory_gb: 1, version: '1' } as const;
  return (await api.client().runner.register({ ...runner, grader: true, ...changes })).runner;
}

let runner: string;
beforeEach(async () => {
  await api.database.sql`delete from errands`;
  runner = await register();
});

const post = (json: unknown, init: { query?: string; headers?: Record<string, string>; key?: string } = {}) =>
  api.request('POST', `${path}${init.query ?? ''}`, {
    json,
    headers: init.headers ?? {},
    ...(init.key && { key: init.key }),
  });
const refused = async (response: Response): Promise<[number, string, Problem]> => {
  const problem = (await response.json()) as Problem;
  return [response.status, problem.code, problem];
};

async function claim(): Promise<ErrandClaim> {
  const { claim: claimed } = await api.client().runner.claimErrand({ runner, kinds: ['grade'] });
  if (claimed === null) throw new Error('nothing to claim');
  return claimed;
}

/** Does the errand as a runner would, each item worth its index. */
async function work({ errand, attempt, payload }: ErrandClaim): Promise<GradeResult[]> {
  const items = payload.kind === 'grade' ? payload.items : [];
  const results = items.map((_, index): GradeResult => ({
    index,
    status: 'scored',
    value: index,
    parts: {},
  }));
  await api.client().runner.finishErrand({ runner, errand, attempt, outcome: { type: 'graded', results } });
  api.hints.notify(errand);
  return results;
}

const isWaitedFor = async (): Promise<void> => {
  while (api.hints.watched === 0) await new Promise(setImmediate);
};

describe('what is refused', () => {
  const broken: [string, unknown, string[]][] = [
    ['no grader', { items: [item] }, ['/grader']],
    ['an unknown grader', request([item], { type: 'mood' }), ['/grader/type']],
    ['no item', request([]), ['/items']],
    ['too many items', request(Array.from({ length: 1_001 }, () => item)), ['/items']],
    ['a task that is none', request([{ task: 'x', response: '' }]), ['/items/0/task']],
    ['no response', request([item, { task: item.task }]), ['/items/1/response']],
    ['a field too many', request([{ ...item, gold: 1 }]), ['/items/0/gold']],
    [
      'tasks of another form',
      request([
        item,
        { ...item, task: { prompt: '', answer: '1' } },
        item,
        { ...item, task: { prompt: 'x', a: 1 } },
      ]),
      ['/items/1/task/prompt', '/items/3/task/answer', '/items/3/task/a'],
    ],
    [
      'tasks of another kind',
      request([item], { type: 'code', language: 'python' }),
      ['/items/0/task/answer', '/items/0/task/tests'],
    ],
    ['a lone surrogate', request([{ ...item, response: '\ud800' }]), ['/items/0/response']],
  ];
  test.each(broken)('%s, by its place', async (_what, json, pointers) => {
    const [status, code, problem] = await refused(await post(json));
    expect([status, code]).toEqual([422, 'invalid_spec']);
    expect(problem.issues?.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  test('a thousand broken tasks: the first hundred faults', async () => {
    const items = Array.from({ length: 1_000 }, () => ({ task: {}, response: '' }));
    const [status, , problem] = await refused(await post(request(items)));
    expect([status, problem.issues?.length]).toEqual([422, 100]);
  });

  test.each([
    ['a body that is too large', request([{ ...item, response: 'x'.repeat(400_000) }]), '', 413, 'too_large'],
    ['a wait that is too long', request(), '?wait_ms=30001', 400, 'invalid_query'],
    ['a wait that is none', request(), '?wait_ms=soon', 400, 'invalid_query'],
  ])('%s', async (_what, json, query, status, code) => {
    expect((await refused(await post(json, { query }))).slice(0, 2)).toEqual([status, code]);
  });

  test.each(['read', 'runner'] as const)('a key of scope %s', async (scope) => {
    expect((await post(request(), { key: api.keys[scope] })).status).toBe(403);
  });
});

describe('without a runner', () => {
  const none = (json: unknown = request()) => post(json, { query: '?wait_ms=0' }).then(refused);

  test('that is alive: 503, and nothing is left', async () => {
    await api.database.sql`update runners set last_seen_at = now() - interval '1 day'`;
    const [status, code, problem] = await none();
    expect([status, code]).toEqual([503, 'no_capable_runner']);
    expect(problem.detail).toContain('millrace runner');
    expect(await api.database.sql`select id from errands`).toHaveLength(0);
  });

  test('that takes errands', async () => {
    await register({ grader: false });
    expect((await none()).slice(0, 2)).toEqual([503, 'no_capable_runner']);
  });

  test('that has the language', async () => {
    const task = { prompt: 'x', tests: 'y' };
    const code = request([{ task, response: '' }], { type: 'code', language: 'python' });
    await register({ languages: ['javascript'], missing: { python: 'no bubblewrap' } });
    const [status, , problem] = await none(code);
    expect([status, problem.detail]).toEqual([503, expect.stringContaining('python')]);
    const [listed] = (await api.client().runners()).data;
    expect(listed).toMatchObject({ languages: ['javascript'], missing: { python: 'no bubblewrap' } });
    await register({ languages: ['javascript', 'python'] });
    expect((await post(code, { query: '?wait_ms=0' })).status).toBe(202);
  });

  test('of the own project', async () => {
    const [status, code] = await refused(await post(request(), { key: api.strangerKey }));
    expect([status, code]).toEqual([503, 'no_capable_runner']);
  });
});

describe('with a runner', () => {
  test('a thousand items come back in their order, as soon as they are there', async () => {
    const items = Array.from({ length: 1_000 }, (_, at) => ({ ...item, response: String(at) }));
    const answer = post(request(items));
    await isWaitedFor();
    const claimed = await claim();
    expect(claimed.payload).toEqual({ kind: 'grade', ...request(items) });
    const results = await work(claimed);
    const response = await answer;
    expect([response.status, await response.json()]).toEqual([200, { results }]);
  });

  test('what takes longer is an errand, which only its project sees', async () => {
    const response = await post(request(), { query: '?wait_ms=0' });
    const { errand } = (await response.json()) as { errand: string };
    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe(`/v1/errands/${errand}`);
    expect(await api.client().errand(errand)).toMatchObject({ state: 'queued', results: null });
    const results = await work(await claim());
    expect(await api.client(api.keys.read).errand(errand)).toMatchObject({
      kind: 'grade',
      state: 'succeeded',
      results,
      reason: null,
    });
    const get = (key: string, id = errand) => api.request('GET', `/v1/errands/${id}`, { key });
    expect((await get(api.strangerKey)).status).toBe(404);
    expect((await get(api.keys.runner)).status).toBe(403);
    expect((await get(api.keys.read, 'err_00000000000000000000000000')).status).toBe(404);
  });

  test('an Idempotency-Key makes one errand, whose results it gives again', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = (await (await post(request(), { query: '?wait_ms=0', headers })).json()) as {
      errand: string;
    };
    const again = await post(request(), { query: '?wait_ms=0', headers });
    expect([again.status, await again.json()]).toEqual([202, first]);
    expect((await refused(await post(request([item, item]), { headers }))).slice(0, 2)).toEqual([
      409,
      'idempotency_conflict',
    ]);
    const results = await work(await claim());
    const answered = await post(request(), { headers });
    expect([answered.status, await answered.json()]).toEqual([200, { results }]);
    expect(await api.client().runner.claimErrand({ runner, kinds: ['grade'] })).toEqual({ claim: null });
    await api.database.sql`delete from errands`;
    expect((await refused(await post(request(), { headers }))).slice(0, 2)).toEqual([409, 'errand_failed']);
  });

  test('an errand that fails says so, with its reason', async () => {
    const answer = post(request());
    await isWaitedFor();
    const { errand, attempt } = await claim();
    const outcome = { type: 'failed', reason: 'grader_crashed', message: 'it died twice' } as const;
    await api.client().runner.finishErrand({ runner, errand, attempt, outcome });
    api.hints.notify(errand);
    const [status, code, problem] = await refused(await answer);
    expect([status, code]).toEqual([409, 'errand_failed']);
    expect(problem.detail).toBe('grader_crashed: it died twice');
    expect(await api.client().errand(errand)).toMatchObject({ state: 'failed', reason: 'grader_crashed' });
  });

  test('a client that goes away leaves no watch behind', async () => {
    const gone = new AbortController();
    const answer = api.request('POST', path, { json: request(), signal: gone.signal });
    await isWaitedFor();
    gone.abort();
    await answer.catch(() => undefined);
    while (api.hints.watched > 0) await new Promise(setImmediate);
  });
});

describe('the protocol', () => {
  const call = (route: string, json: unknown) =>
    api.request('POST', `/v1/runner/errands/${route}`, { json }).then(refused);

  test('refuses whoever does not hold the errand, and an outcome that does not fit', async () => {
    await post(request(), { query: '?wait_ms=0' });
    const { errand, attempt } = await claim();
    const fence = { runner, errand, attempt };
    const graded = (indices: number[]) => ({
      type: 'graded',
      results: indices.map((index) => ({ index, status: 'unscored', code: 'sandbox_down' })),
    });
    for (const [route, more] of [
      ['heartbeat', {}],
      ['finish', { outcome: graded([0]) }],
    ] as const)
      expect((await call(route, { ...fence, attempt: attempt + 1, ...more })).slice(0, 2)).toEqual([
        409,
        'lease_lost',
      ]);
    for (const indices of [[1], [0, 1], [0, 0]])
      expect((await call('finish', { ...fence, outcome: graded(indices) }))[0]).toBe(422);
    expect(await api.client().runner.errandHeartbeat(fence)).toEqual({ lease_ms: 30_000 });
    expect((await call('claim', { runner: 'run_00000000000000000000000000', kinds: ['grade'] }))[0]).toBe(
      404,
    );
    expect((await call('claim', { runner, kinds: [] }))[0]).toBe(422);
  });
});
