// The service about itself: health, readiness with the truth about database and store, request ids, and logs that hold no key. With the database or the store away, every answer is the documented 503.
import { beforeAll, describe, expect, test } from 'vitest';
import { pino } from 'pino';
import type { Problem } from '../../api/contract/problem.ts';
import { createApp } from '../../api/app.ts';
import { connect } from '../../db/connect.ts';
import { openStore } from '../../store/open.ts';
import { mathRows, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));

describe('health', () => {
  test('needs no key', async () => {
    expect(await (await api.request('GET', '/healthz', { key: null })).json()).toEqual({ status: 'ok' });
    const ready = await api.request('GET', '/readyz', { key: null });
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { ready: true, database: 'ok', schema: 'ok', store: 'ok', stopping: false },
    ]);
  });
});

describe('requests', () => {
  test('keep a harmless id of the client, and get one otherwise', async () => {
    expect(
      (await api.request('GET', '/healthz', { headers: { 'x-request-id': 'abc-1' } })).headers.get(
        'x-request-id',
      ),
    ).toBe('abc-1');
    const other = (await api.request('GET', '/v1/none', { headers: { 'x-request-id': 'a b' } })).headers.get(
      'x-request-id',
    );
    expect(other).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('are logged without keys', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
    const app = createApp({ db: api.database.db, store: api.store, log });
    const headers = { authorization: `Bearer ${api.keys.admin}`, 'x-request-id': 'r-1' };
    await app.request('/v1/jobs?label=secret:value', { headers });
    await app.request('/v1/jobs', { headers: { authorization: 'Bearer mr_wrong' } });
    const text = lines.join('');
    expect(text).toContain('"request":"r-1"');
    expect(text).not.toContain(api.keys.admin);
    expect(text).not.toContain('mr_wrong');
    expect(text).not.toContain('secret');
  });
});

describe('with the database away', () => {
  test('every route says database_unavailable, and readiness the truth', async () => {
    const away = connect('postgres://nobody:nothing@127.0.0.1:1/none', 2);
    const app = createApp({ db: away.db, store: api.store });
    const headers = { authorization: `Bearer ${api.keys.admin}` };
    for (const path of ['/v1/jobs', '/v1/runners', '/v1/jobs/job_00000000000000000000000000']) {
      const response = await app.request(path, { headers });
      expect([response.status, ((await response.json()) as Problem).code]).toEqual([
        503,
        'database_unavailable',
      ]);
      expect(response.headers.get('retry-after')).toBe('2');
    }
    expect((await app.request('/healthz')).status).toBe(200);
    const ready = await app.request('/readyz');
    expect([ready.status, await ready.json()]).toEqual([
      503,
      {
        ready: false,
        database: 'unavailable: ECONNREFUSED',
        schema: 'unknown',
        store: 'ok',
        stopping: false,
      },
    ]);
    await away.close();
  });
});

describe('with the store away', () => {
  const away = openStore('s3://bucket', {
    S3_ENDPOINT: 'http://127.0.0.1:1',
    S3_REGION: 'none',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'secret',
  });

  test('an upload says store_unavailable and leaves no row; jobs go on; readiness says so', async () => {
    const app = createApp({ db: api.database.db, store: away });
    const headers = { authorization: `Bearer ${api.keys.admin}` };
    const upload = await app.request('/v1/datasets?name=lost&kind=math', {
      method: 'POST',
      headers,
      body: mathRows,
    });
    const problem = (await upload.json()) as Problem;
    expect([upload.status, problem.code, problem.detail]).toEqual([
      503,
      'store_unavailable',
      expect.stringContaining('http://127.0.0.1:1'),
    ]);
    expect((await api.client().datasets()).data.some((one) => one.name === 'lost')).toBe(false);
    const posted = await app.request('/v1/jobs', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(spec()),
    });
    expect(posted.status).toBe(201);
    expect(await (await app.request('/readyz')).json()).toEqual({
      ready: false,
      database: 'ok',
      schema: 'ok',
      store: 'unavailable: unreachable',
      stopping: false,
    });
  });
});
