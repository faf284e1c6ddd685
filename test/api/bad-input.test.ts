// What a client can do wrong, as a table: each a 4xx with its code and, where there is one, its place.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Problem } from '../../api/contract/problem.ts';
import { problem } from '../../api/contract/problem.ts';
import { overHttp, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
const job = 'job_00000000000000000000000000';
const runner = 'run_00000000000000000000000000';
const ids: { job?: string; dataset?: string } = {};
beforeAll(async () => {
  const client = api.client();
  await registerDatasets(client);
  ids.job = (await client.createJob(spec())).id;
  ids.dataset = (await client.datasets()).data[0]?.id ?? '';
});

const deep = (n: number): string => '['.repeat(n) + ']'.repeat(n);
const jsonType = { 'content-type': 'application/json' };
const fence = { runner, job, attempt: 1 };

type Case = [
  what: string,
  method: string,
  path: string,
  init: RequestInit & { key?: string | null; json?: unknown },
  expected: string,
  pointer?: string,
];

const cases: Case[] = [
  ['no key', 'GET', '/v1/jobs', { key: null }, '401 unauthorized'],
  [
    'a wrong key',
    'GET',
    '/v1/jobs',
    { key: 'mr_0000000000000000000000000000000000000000' },
    '401 unauthorized',
  ],
  [
    'a key in another scheme',
    'GET',
    '/v1/jobs',
    { key: null, headers: { authorization: 'Basic abc' } },
    '401 unauthorized',
  ],
  ['an unknown route', 'GET', '/v1/none', {}, '404 not_found'],
  ['an unknown route outside', 'GET', '/none', { key: null }, '404 not_found'],
  ['a wrong method', 'DELETE', '/v1/jobs', {}, '405 method_not_allowed'],
  ['a wrong method on a path with an id', 'PATCH', `/v1/jobs/${job}`, {}, '405 method_not_allowed'],
  [
    'a wrong method on a file',
    'PUT',
    `/v1/checkpoints/x/files/trainer/state.json`,
    {},
    '405 method_not_allowed',
  ],
  ['an id of the wrong form', 'GET', '/v1/jobs/1', {}, '404 not_found'],
  ['an id of another kind', 'GET', '/v1/jobs/ds_00000000000000000000000000', {}, '404 not_found'],
  ['an id that is a path', 'GET', '/v1/jobs/..%2f..%2fetc', {}, '404 not_found'],
  ['an id with a NUL', 'GET', '/v1/jobs/%00', {}, '400 invalid_query'],
  ['an id that is no UTF-8', 'GET', '/v1/jobs/%ff%fe', {}, '404 not_found'],
  ['a job that is not there', 'GET', `/v1/jobs/${job}`, {}, '404 not_found'],
  ['its events', 'GET', `/v1/jobs/${job}/events`, {}, '404 not_found'],
  [
    'its stream',
    'GET',
    `/v1/jobs/${job}/events`,
    { headers: { accept: 'text/event-stream' } },
    '404 not_found',
  ],
  ['its metrics', 'GET', `/v1/jobs/${job}/metrics`, {}, '404 not_found'],
  ['its evaluations', 'GET', `/v1/jobs/${job}/evaluations`, {}, '404 not_found'],
  ['its samples', 'GET', `/v1/jobs/${job}/samples`, {}, '404 not_found'],
  ['its log', 'GET', `/v1/jobs/${job}/logs`, {}, '404 not_found'],
  ['its checkpoints', 'GET', `/v1/jobs/${job}/checkpoints`, {}, '404 not_found'],
  ['its end', 'POST', `/v1/jobs/${job}/cancel`, {}, '404 not_found'],
  ['its pause', 'POST', `/v1/jobs/${job}/pause`, {}, '404 not_found'],
  ['a dataset that is not there', 'GET', '/v1/datasets/ds_00000000000000000000000000', {}, '404 not_found'],
  [
    'a checkpoint that is not there',
    'GET',
    '/v1/checkpoints/ckpt_00000000000000000000000000',
    {},
    '404 not_found',
  ],
  ['a limit that is none', 'GET', '/v1/jobs?limit=many', {}, '400 invalid_query', '/limit'],
  ['a limit of nothing', 'GET', '/v1/jobs?limit=0', {}, '400 invalid_query', '/limit'],
  ['two limits', 'GET', '/v1/jobs?limit=1&limit=2', {}, '400 invalid_query', '/limit'],
  ['a state that is none', 'GET', '/v1/jobs?state=asleep', {}, '400 invalid_query', '/state'],
  ['a label without a value', 'GET', '/v1/jobs?label=x', {}, '400 invalid_query', '/label'],
  ['a cursor of another list', 'GET', '/v1/jobs?after=7', {}, '400 invalid_query', '/after'],
  ['a NUL in the query', 'GET', '/v1/jobs?label=a:%00', {}, '400 invalid_query'],
  [
    'a step beyond all numbers',
    'GET',
    `/v1/jobs/${job}/samples?step=99999999999`,
    {},
    '400 invalid_query',
    '/step',
  ],
  [
    'a header that is no key',
    'POST',
    '/v1/jobs',
    { json: spec(), headers: { 'idempotency-key': 'two words' } },
    '400 invalid_header',
    '/idempotency-key',
  ],
  ['no body', 'POST', '/v1/jobs', { headers: jsonType }, '400 invalid_json'],
  [
    'a body that is not JSON',
    'POST',
    '/v1/jobs',
    { body: '{"type":', headers: jsonType },
    '400 invalid_json',
  ],
  [
    'a body that is not UTF-8',
    'POST',
    '/v1/jobs',
    { body: Buffer.from([0x7b, 0xff]), headers: jsonType },
    '400 invalid_json',
  ],
  [
    'a body of another type',
    'POST',
    '/v1/jobs',
    { body: 'type: cascade', headers: { 'content-type': 'application/yaml' } },
    '415 unsupported_media_type',
  ],
  [
    'a body that is too large',
    'POST',
    '/v1/jobs',
    { json: spec({ name: 'x'.repeat(8 << 20) }) },
    '413 too_large',
  ],
  [
    'JSON nested absurdly deep',
    'POST',
    '/v1/jobs',
    { body: deep(40_000), headers: jsonType },
    '422 invalid_spec',
    '',
  ],
  [
    'JSON nested deep in a field',
    'POST',
    '/v1/jobs',
    { body: `{"labels":${deep(40_000)}}`, headers: jsonType },
    '422 invalid_spec',
    '',
  ],
  ['JSON that is no object', 'POST', '/v1/jobs', { json: [] }, '422 invalid_spec', ''],
  ['a job without a type', 'POST', '/v1/jobs', { json: {} }, '422 invalid_spec', '/type'],
  ['an unknown field', 'POST', '/v1/jobs', { json: spec({ stagse: [] }) }, '422 invalid_spec', '/stagse'],
  [
    'a NUL in a string',
    'POST',
    '/v1/jobs',
    { json: spec({ labels: { team: 'a\0b' } }) },
    '422 invalid_spec',
    '/labels/team',
  ],
  [
    'a NUL in a key',
    'POST',
    '/v1/jobs',
    { json: spec({ labels: { 'a\0b': 'x' } }) },
    '422 invalid_spec',
    '/labels/a\uFFFDb',
  ],
  [
    'half a character',
    'POST',
    '/v1/jobs',
    { json: spec({ labels: { team: '\ud800' } }) },
    '422 invalid_spec',
    '/labels/team',
  ],
  [
    'a number beyond all',
    'POST',
    '/v1/jobs',
    { body: JSON.stringify(spec()).replace('"steps":2', '"steps":1e999'), headers: jsonType },
    '422 invalid_spec',
    '/stages/0/steps',
  ],
  [
    'a seed beyond exactness',
    'POST',
    '/v1/jobs',
    { json: spec({ seed: 2 ** 60 }) },
    '422 invalid_spec',
    '/seed',
  ],
  [
    'a group of one',
    'POST',
    '/v1/jobs',
    { json: spec({ stages: [{ kind: 'math', data: 'math', steps: 1, rollouts: 1 }] }) },
    '422 invalid_spec',
    '/stages/0/rollouts',
  ],
  ['no stages', 'POST', '/v1/jobs', { json: spec({ stages: [] }) }, '422 invalid_spec', '/stages'],
  [
    'an unknown kind of stage',
    'POST',
    '/v1/jobs',
    { json: spec({ stages: [{ kind: 'poetry' }] }) },
    '422 invalid_spec',
    '/stages/0/kind',
  ],
  [
    'an unknown grader',
    'POST',
    '/v1/jobs',
    { json: spec({ stages: [{ kind: 'math', data: 'math', steps: 1, grader: { type: 'mood' } }] }) },
    '422 invalid_spec',
    '/stages/0/grader/type',
  ],
  [
    'an unknown tokenizer',
    'POST',
    '/v1/jobs',
    {
      json: spec({
        model: {
          init: {
            from: 'config',
            config: { hidden_size: 8, intermediate_size: 8, num_hidden_layers: 1, num_attention_heads: 2 },
            tokenizer: { type: 'words' },
          },
        },
      }),
    },
    '422 invalid_spec',
    '/model/init/tokenizer',
  ],
  [
    'a dataset without a name',
    'POST',
    '/v1/datasets?kind=math',
    { body: '{}' },
    '400 invalid_query',
    '/name',
  ],
  [
    'a dataset of an unknown kind',
    'POST',
    '/v1/datasets?name=x&kind=poems',
    { body: '{}' },
    '400 invalid_query',
    '/kind',
  ],
  [
    'a parameter that is none',
    'POST',
    '/v1/datasets?name=x&kind=math&colour=blue',
    { body: '{}' },
    '400 invalid_query',
    '/colour',
  ],
  [
    'a dataset name that is a path',
    'POST',
    '/v1/datasets?name=..%2Fx&kind=math',
    { body: '{}' },
    '400 invalid_query',
    '/name',
  ],
  ['a claim without a runner', 'POST', '/v1/runner/claim', { json: {} }, '422 invalid_spec', '/runner'],
  [
    'an attempt beyond all numbers',
    'POST',
    '/v1/runner/heartbeat',
    { json: { ...fence, attempt: 2 ** 40 } },
    '422 invalid_spec',
    '/attempt',
  ],
  [
    'a sequence beyond all numbers',
    'POST',
    '/v1/runner/report',
    { json: { ...fence, sequence: 2 ** 40, entries: [] } },
    '422 invalid_spec',
    '/sequence',
  ],
  [
    'a step beyond all numbers in a report',
    'POST',
    '/v1/runner/report',
    {
      json: {
        ...fence,
        sequence: 1,
        entries: [{ type: 'step', stage: 's', phase: 0, step: 2 ** 40, metrics: {} }],
      },
    },
    '422 invalid_spec',
    '/entries/0/step',
  ],
  [
    'an entry of no known type',
    'POST',
    '/v1/runner/report',
    { json: { ...fence, sequence: 1, entries: [{ type: 'gossip' }] } },
    '422 invalid_spec',
    '/entries/0/type',
  ],
  [
    'a reason that is none',
    'POST',
    '/v1/runner/finish',
    { json: { ...fence, outcome: { type: 'failed', reason: 'mood', message: '' } } },
    '422 invalid_spec',
    '/outcome/reason',
  ],
  [
    'a report for a job of nobody',
    'POST',
    '/v1/runner/report',
    { json: { ...fence, sequence: 1, entries: [] } },
    '409 lease_lost',
  ],
];

describe('what a client can do wrong', () => {
  // fetch itself sends no such header.
  test.skipIf(overHttp)('a body that says it is too large', async () => {
    const headers = { ...jsonType, 'content-length': '999999999' };
    expect((await api.request('POST', '/v1/jobs', { body: '{}', headers })).status).toBe(413);
  });

  test.each(cases)('%s: %s %s', async (_what, method, path, init, expected, pointer) => {
    const response = await api.request(method, path, init);
    const body = problem.parse(await response.json());
    expect(`${response.status} ${body.code}`).toBe(expected);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('x-request-id')).toMatch(/./);
    expect(body.status).toBe(response.status);
    if (pointer !== undefined) expect(body.issues?.map((issue) => issue.pointer)).toContain(pointer);
  });

  test('405 says what the path takes', async () => {
    expect((await api.request('PUT', '/v1/jobs', {})).headers.get('allow')).toBe('GET, HEAD, POST');
    expect((await api.request('HEAD', '/v1/jobs', {})).status).toBe(200);
  });
});

describe('what a key may do', () => {
  const rights: [scope: 'submit' | 'read' | 'runner', method: string, path: string, status: number][] = [
    ['read', 'GET', '/v1/jobs', 200],
    ['read', 'POST', '/v1/jobs', 403],
    ['read', 'POST', '/v1/datasets?name=x&kind=math', 403],
    ['read', 'POST', '/v1/runner/claim', 403],
    ['submit', 'GET', '/v1/jobs', 200],
    ['submit', 'POST', '/v1/jobs', 400],
    ['submit', 'POST', '/v1/runner/claim', 403],
    ['runner', 'GET', '/v1/jobs', 403],
    ['runner', 'POST', '/v1/jobs', 403],
    ['runner', 'GET', '/v1/datasets', 403],
    ['runner', 'GET', '/v1/runners', 403],
    ['runner', 'GET', '/v1/checkpoints/ckpt_00000000000000000000000000', 403],
    ['runner', 'GET', '/v1/checkpoints/ckpt_00000000000000000000000000/files/trainer/state.json', 403],
    ['runner', 'POST', '/v1/runner/claim', 400],
  ];
  test.each(rights)('%s: %s %s is %d', async (scope, method, path, status) => {
    expect((await api.request(method, path, { key: api.keys[scope] })).status).toBe(status);
  });

  test('a revoked key is none', async () => {
    await api.database.sql`update api_keys set revoked_at = now() where name = 'read'`;
    expect((await api.request('GET', '/v1/jobs', { key: api.keys.read })).status).toBe(401);
  });

  test('what another project owns is not there', async () => {
    const key = api.strangerKey;
    const paths = ['', '/events', '/metrics', '/evaluations', '/samples', '/logs', '/checkpoints'].map(
      (part) => `/v1/jobs/${ids.job}${part}`,
    );
    for (const path of [...paths, `/v1/datasets/${ids.dataset}`])
      expect([path, (await api.request('GET', path, { key })).status]).toEqual([path, 404]);
    expect((await api.request('POST', `/v1/jobs/${ids.job}/cancel`, { key })).status).toBe(404);
    for (const path of ['/v1/jobs', '/v1/datasets', '/v1/runners'])
      expect(((await (await api.request('GET', path, { key })).json()) as { data: unknown[] }).data).toEqual(
        [],
      );
    const posted = (await (await api.request('POST', '/v1/jobs', { json: spec(), key })).json()) as Problem;
    expect(posted.issues?.[0]?.message).toMatch(/no dataset/);
  });
});
