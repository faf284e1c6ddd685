// The audit trail: who did what with what outcome; what leaves a row and what does not; that it holds no secret and no body,
// and that nothing is done whose row could not be written.
import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import type { AuditEntry } from '../../api/contract/audit.ts';
import type { Client } from '../../api/client.ts';
import { isAudited } from '../../api/middleware/audit.ts';
import { documentedPath } from '../../api/openapi.ts';
import { connect } from '../../db/connect.ts';
import { claimOne, mathRows, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
let admin: Client;
let operator: Client;
beforeAll(async () => {
  admin = api.client();
  operator = api.client(api.keys.operator);
  await registerDatasets(admin);
});

const trailOf = async (thing: string): Promise<AuditEntry[]> => (await admin.audit({ thing })).data;
const count = async (): Promise<number> =>
  Number((await api.database.sql<{ count: string }[]>`select count(*) from audit_rows`)[0]?.count);

describe('a row', () => {
  test('names time, project, key, route, thing, status and request', async () => {
    const response = await api.request('POST', '/v1/jobs', {
      json: spec({ name: 'secret-plan' }),
      key: api.keys.submit,
      headers: { 'x-request-id': 'r-17' },
    });
    const { id } = (await response.json()) as { id: string };
    const keys = (await admin.keys()).data;
    const submit = keys.find(({ name }) => name === 'submit')!;
    const [row] = await trailOf(id);
    expect(row).toEqual({
      id: expect.stringMatching(/^aud_/) as string,
      created_at: expect.any(String) as string,
      project: submit.project,
      key: { id: submit.id, name: 'submit' },
      method: 'POST',
      route: '/v1/jobs',
      thing: id,
      made: null,
      status: 201,
      request: 'r-17',
    });
    expect(Math.abs(Date.parse(row!.created_at) - Date.now())).toBeLessThan(60_000);
  });

  test('stands for every call on a thing, newest first, refused ones too', async () => {
    const { id } = await admin.createJob(spec());
    await admin.pauseJob(id);
    await admin.resumeJob(id);
    await api.request('POST', `/v1/jobs/${id}/cancel`, { key: api.keys.read });
    await api.request('POST', `/v1/jobs/${id}/cancel`, { key: api.strangerKey });
    await admin.cancelJob(id);
    await api.request('POST', `/v1/jobs/${id}/pause`);
    const rows = (await trailOf(id)).map(({ key, route, status }) => `${key.name} ${route} ${status}`);
    expect(rows).toEqual([
      'admin /v1/jobs/{id}/pause 409',
      'admin /v1/jobs/{id}/cancel 200',
      'read /v1/jobs/{id}/cancel 403',
      'admin /v1/jobs/{id}/resume 200',
      'admin /v1/jobs/{id}/pause 200',
      'admin /v1/jobs 201',
    ]);
    // The stranger's attempt is on the trail of the stranger's project.
    const there = await api.client(api.strangerKey).audit({ thing: id });
    expect(there.data.map(({ status }) => status)).toEqual([404]);
  });

  test('of a refusal says so: no such thing, no such form', async () => {
    const none = 'ds_00000000000000000000000000';
    await api.request('DELETE', `/v1/datasets/${none}`);
    expect(await trailOf(none)).toMatchObject([{ method: 'DELETE', status: 404 }]);
    await api.request('POST', '/v1/jobs', { json: { type: 'x' }, headers: { 'x-request-id': 'r-bad' } });
    expect((await admin.audit()).data[0]).toMatchObject({ request: 'r-bad', status: 422, thing: null });
  });

  test('of a rotation names both keys, and is found by either', async () => {
    const old = await admin.createKey({ name: 'ci', scopes: ['read'] });
    const successor = await admin.rotateKey(old.id);
    const [row] = await trailOf(successor.id);
    expect(row).toMatchObject({
      route: '/v1/keys/{id}/rotate',
      thing: old.id,
      made: successor.id,
      status: 201,
    });
    expect((await trailOf(old.id)).map(({ route }) => route)).toEqual(['/v1/keys/{id}/rotate', '/v1/keys']);
  });

  test('of an operator’s act lies with the project that it was done to', async () => {
    const project = await operator.createProject({ name: 'elsewhere' });
    const key = await operator.createKey({ name: 'first', scopes: ['admin'], project: 'elsewhere' });
    await operator.changeProject(project.id, { weight: 3 });
    const seen = (await api.client(key.secret).audit()).data;
    expect(seen.map(({ key: by, route }) => `${by.name} ${route}`)).toEqual([
      'operator /v1/projects/{id}',
      'operator /v1/keys',
    ]);
    const all = (await operator.audit({ limit: 200 })).data;
    expect(new Set(all.map((row) => row.project)).size).toBeGreaterThan(1);
    expect((await operator.audit({ project: 'elsewhere' })).data).toEqual(seen);
  });
});

describe('the list', () => {
  test('is paged, and filtered by key', async () => {
    const made = await admin.createKey({ name: 'busy', scopes: ['submit'] });
    const busy = api.client(made.secret);
    const { id } = await busy.createJob(spec());
    for (let i = 0; i < 5; i++) await busy.pauseJob(id);
    const seen: AuditEntry[] = [];
    for await (const row of admin.all((query) => admin.audit({ ...query, key: made.id, limit: 2 })))
      seen.push(row);
    expect(seen).toHaveLength(6);
    expect(seen.map((row) => row.id)).toEqual(
      seen
        .map((row) => row.id)
        .toSorted()
        .toReversed(),
    );
    expect(new Set(seen.map(({ key }) => key.name))).toEqual(new Set(['busy']));
  });

  test('shows no other project', async () => {
    const before = (await api.client(api.strangerKey).audit({ limit: 200 })).data.length;
    await admin.createJob(spec());
    expect((await api.client(api.strangerKey).audit({ limit: 200 })).data).toHaveLength(before);
  });
});

describe('what leaves a row', () => {
  test('is every route that changes something, but for runners, grading and chat', () => {
    const routes = api.app.routes.filter(({ method, path }) => method !== 'ALL' && path.startsWith('/v1/'));
    const name = ({ method, path }: { method: string; path: string }) => `${method} ${documentedPath(path)}`;
    const spared = routes.filter((route) => route.method !== 'GET' && !isAudited(route)).map(name);
    expect([...new Set(spared)].filter((route) => !route.includes('/v1/runner/'))).toEqual([
      'POST /v1/graders/run',
      'POST /v1/chat/completions',
    ]);
    expect(routes.filter((route) => route.method === 'GET').some(isAudited)).toBe(false);
  });

  test('is not: reading, the runner protocol, a wrong key, a route that there is not', async () => {
    await admin.createJob(spec());
    const before = await count();
    await admin.jobs();
    await admin.audit();
    const { fence } = await claimOne(admin);
    await admin.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
    await api.request('POST', '/v1/jobs', { json: spec(), key: 'mr_wrong' });
    await api.request('POST', '/v1/nothing', { json: {} });
    await api.request('DELETE', '/v1/jobs');
    expect(await count()).toBe(before);
  });

  test('no secret and no body is in it', async () => {
    const made = await admin.createKey({ name: 'sesame', scopes: ['admin'] });
    await api.client(made.secret).rotateKey(made.id);
    await admin.createDataset({ name: 'rows', kind: 'math' }, mathRows);
    const rows = JSON.stringify(await api.database.sql`select * from audit_rows`);
    for (const secret of [made.secret, made.secret.slice(11), api.keys.admin, 'secret-plan', '1+1='])
      expect(rows).not.toContain(secret);
  });
});

describe('where the trail cannot be written', () => {
  test('nothing is done: the call is refused and leaves nothing', async () => {
    const { sql } = api.database;
    await sql`alter table audit_rows rename to audit_rows_away`;
    try {
      const response = await api.request('POST', '/v1/datasets?name=untold&kind=math', { body: mathRows });
      expect(response.status).toBe(500);
      expect((await admin.datasets({ limit: 200 })).data.some(({ name }) => name === 'untold')).toBe(false);
    } finally {
      await sql`alter table audit_rows_away rename to audit_rows`;
    }
  });

  test('a call whose process ends in between has its row, without a status', async () => {
    // The outcome cannot be written: what a row of a process that was killed looks like.
    const lines: string[] = [];
    const { sql } = api.database;
    await sql`create function forbid() returns trigger language plpgsql as 'begin raise exception ''no''; end'`;
    await sql`create trigger forbid before update on audit_rows for each row execute function forbid()`;
    const second = connect(api.database.url, 2);
    const { pino } = await import('pino');
    const app = createApp({
      db: second.db,
      store: api.store,
      log: pino({ level: 'error' }, { write: (line) => void lines.push(line) }),
    });
    try {
      const response = await app.request('/v1/jobs', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${api.keys.admin}`,
          'content-type': 'application/json',
          'x-request-id': 'r-cut',
        },
        body: JSON.stringify(spec()),
      });
      expect(response.status).toBe(201);
      expect((await admin.audit()).data[0]).toMatchObject({ request: 'r-cut', status: null, thing: null });
      expect(lines.join('')).toContain('an outcome is not in the audit trail');
    } finally {
      await sql`drop trigger forbid on audit_rows`;
      await second.close();
    }
  });
});
