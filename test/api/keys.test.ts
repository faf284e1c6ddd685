// Keys and projects over REST: what is shown once, who may give what, when a key stops opening, and that nobody makes a key
// that is above their own.
import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../api/client.ts';
import type { Scope } from '../../api/contract/keys.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { createKey } from '../../db/keys.ts';
import { apiKeys } from '../../db/keys/table.ts';
import { registerDatasets, spec, useApi } from './support.ts';

const api = useApi({ timing: { pollMs: 5, keepAliveMs: 20 } });

let admin: Client;
let operator: Client;
let project: string;
let other: string;
beforeAll(async () => {
  admin = api.client();
  operator = api.client(api.keys.operator);
  project = (await admin.keys()).data[0]!.project;
  other = (await api.client(api.strangerKey).keys()).data[0]!.project;
});

const statusOf = async (secret: string, path = '/v1/jobs'): Promise<number> =>
  (await api.request('GET', path, { key: secret })).status;
const refused = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'allowed',
    (error: { status: number; code: string }) => `${error.status} ${error.code}`,
  );
/** A key straight in the database, as only there one could be made: with an end, or above its project. */
const keyOf = async (scopes: Scope[], expiresAt: Date | null = null) =>
  createKey(api.database.db, { projectId: project, name: 'made', scopes, expiresAt });
const anHourLater = (id: string) =>
  api.database.db
    .update(apiKeys)
    .set({
      expiresAt: sql`expires_at - interval '1 hour'`,
      lastUsedAt: sql`last_used_at - interval '1 hour'`,
    })
    .where(eq(apiKeys.id, id));

describe('making a key', () => {
  test('shows the secret this once; what it may it may at once', async () => {
    const response = await api.request('POST', '/v1/keys', {
      json: { name: 'ci', scopes: ['submit', 'read'] },
    });
    expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const made = (await response.json()) as { id: string; secret: string };
    expect(made).toEqual({
      id: expect.stringMatching(/^key_/) as string,
      project,
      name: 'ci',
      scopes: ['submit', 'read'],
      prefix: made.secret.slice(0, 11),
      secret: expect.stringMatching(/^mr_[0-9a-f]{40}$/) as string,
      created_at: expect.any(String) as string,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      replaced_by: null,
    });
    expect(await statusOf(made.secret)).toBe(200);
    expect(await statusOf(made.secret, '/v1/keys')).toBe(403);
    const listed = await (await api.request('GET', '/v1/keys?limit=200')).text();
    expect(listed).toContain(made.id);
    expect(listed).not.toContain(made.secret.slice(11));
    expect(listed).not.toContain('hash');
  });

  test('that ends: by a date or by a length of time, and then opens nothing', async () => {
    const made = await admin.createKey({ name: 'guest', scopes: ['read'], expires_in: '1h' });
    const left = Date.parse(made.expires_at!) - Date.now();
    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThan(3_700_000);
    expect(await statusOf(made.secret)).toBe(200);
    await anHourLater(made.id);
    const response = await api.request('GET', '/v1/jobs', { key: made.secret });
    expect([response.status, ((await response.json()) as Problem).detail]).toEqual([
      401,
      expect.stringContaining('has expired'),
    ]);
    const expires_at = '2100-01-01T00:00:00.000Z';
    expect((await admin.createKey({ name: 'guest', scopes: ['read'], expires_at })).expires_at).toBe(
      expires_at,
    );
  });

  test.each<[string, object, string]>([
    ['no scope', { scopes: [] }, '/scopes'],
    ['a scope that there is not', { scopes: ['root'] }, '/scopes/0'],
    ['a scope twice', { scopes: ['read', 'read'] }, '/scopes'],
    ['no name', { name: undefined }, '/name'],
    ['two ends', { expires_at: '2100-01-01T00:00:00Z', expires_in: '1h' }, '/expires_in'],
    ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    ['no time at all', { expires_in: '0s' }, '/expires_in'],
    ['a length without unit', { expires_in: '10' }, '/expires_in'],
    ['eleven years', { expires_in: '4015d' }, '/expires_in'],
    ['an unknown field', { secret: 'mine' }, '/secret'],
  ])('with %s is refused at its place', async (_what, wrong, pointer) => {
    const json = { name: 'x', scopes: ['read'], ...wrong };
    const response = await api.request('POST', '/v1/keys', { json });
    const { code, issues } = (await response.json()) as Problem;
    expect([response.status, code, issues?.[0]?.pointer]).toEqual([422, 'invalid_spec', pointer]);
  });
});

describe('whose keys', () => {
  test('an admin gives what it has, in its project', async () => {
    const give = (...scopes: Scope[]) => refused(admin.createKey({ name: 'x', scopes }));
    expect(await give('admin', 'submit', 'read', 'runner')).toBe('allowed');
    expect(await give('operator')).toBe('403 forbidden');
    expect(await give('read', 'shared_runner')).toBe('403 forbidden');
    expect(await refused(admin.createKey({ name: 'x', scopes: ['read'], project: 'ours' }))).toBe('allowed');
    for (const there of [other, 'theirs', 'nowhere'])
      expect(await refused(admin.createKey({ name: 'x', scopes: ['read'], project: there }))).toBe(
        '404 not_found',
      );
  });

  test('an operator gives any, anywhere, and reads no job by itself', async () => {
    const made = await operator.createKey({
      name: 'x',
      scopes: ['admin', 'shared_runner'],
      project: 'theirs',
    });
    expect(made.project).toBe(other);
    expect(await refused(operator.createKey({ name: 'x', scopes: ['operator'] }))).toBe('allowed');
    for (const path of ['/v1/jobs', '/v1/datasets', '/v1/runners', '/v1/models'])
      expect(await statusOf(api.keys.operator, path)).toBe(403);
    const both = await keyOf(['operator', 'read']);
    expect(await statusOf(both.secret)).toBe(200);
    const seen = async (query: string) => {
      const { data } = await operator.keys({ limit: 200, ...(query !== '' && { project: query }) });
      return new Set(data.map((one) => one.project));
    };
    expect(await seen('')).toEqual(new Set([project, other]));
    expect(await seen('theirs')).toEqual(new Set([other]));
  });

  test('an admin lists its own only, whatever it asks for', async () => {
    expect(new Set((await admin.keys({ limit: 200 })).data.map((one) => one.project))).toEqual(
      new Set([project]),
    );
    expect(await refused(admin.keys({ project: 'theirs' }))).toBe('404 not_found');
    const pages: string[] = [];
    for await (const { id } of admin.all((query) => admin.keys({ ...query, limit: 3 }))) pages.push(id);
    expect(pages.length).toBeGreaterThan(6);
    expect(new Set(pages).size).toBe(pages.length);
  });
});

describe('revoking', () => {
  test('closes the key at once, and again is no fault', async () => {
    const { id, secret } = await admin.createKey({ name: 'x', scopes: ['read'] });
    expect(await statusOf(secret)).toBe(200);
    await admin.revokeKey(id);
    expect(await statusOf(secret)).toBe(401);
    await admin.revokeKey(id);
    const listed = (await admin.keys({ limit: 200 })).data.find((one) => one.id === id);
    expect(listed?.revoked_at).not.toBeNull();
  });

  test('ends event streams that it has open', async () => {
    await registerDatasets(admin);
    const job = await admin.createJob(spec());
    const { id, secret } = await admin.createKey({ name: 'x', scopes: ['read'] });
    const response = await api.request('GET', `/v1/jobs/${job.id}/events`, {
      key: secret,
      headers: { accept: 'text/event-stream' },
    });
    const reader = response.body!.getReader();
    await reader.read();
    await admin.revokeKey(id);
    for (let done = false; !done;) ({ done } = await reader.read());
    expect((await admin.job(job.id)).state).toBe('queued');
  });

  test('of a key above its own is not an admin’s', async () => {
    const above = await keyOf(['operator', 'read']);
    expect(await refused(admin.revokeKey(above.id))).toBe('403 forbidden');
    expect(await refused(admin.rotateKey(above.id))).toBe('403 forbidden');
    expect(await statusOf(above.secret)).toBe(200);
    expect(await refused(operator.revokeKey(above.id))).toBe('allowed');
  });

  test('of the last admin key is an operator’s', async () => {
    const made = await operator.createProject({ name: 'lonely' });
    const first = await operator.createKey({ name: 'a', scopes: ['admin'], project: made.id });
    const alone = api.client(first.secret);
    expect(await refused(alone.revokeKey(first.id))).toBe('409 conflict');
    const second = await alone.createKey({ name: 'b', scopes: ['admin'] });
    await alone.revokeKey(first.id);
    expect(await refused(api.client(second.secret).revokeKey(second.id))).toBe('409 conflict');
    await operator.revokeKey(second.id);
    expect(await statusOf(second.secret)).toBe(401);
  });
});

describe('rotating', () => {
  test('both secrets open during the grace; afterwards the new one', async () => {
    const old = await admin.createKey({ name: 'ci', scopes: ['submit'] });
    const successor = await admin.rotateKey(old.id, { grace: '1h' });
    expect(successor).toMatchObject({ name: 'ci', scopes: ['submit'], project, expires_at: null });
    expect([await statusOf(old.secret), await statusOf(successor.secret)]).toEqual([200, 200]);
    const listed = (await admin.keys({ limit: 200 })).data.find((one) => one.id === old.id);
    expect(listed?.replaced_by).toBe(successor.id);
    await anHourLater(old.id);
    expect([await statusOf(old.secret), await statusOf(successor.secret)]).toEqual([401, 200]);
  });

  test('the grace is a day by default, and may be none', async () => {
    const day = await admin.createKey({ name: 'ci', scopes: ['read'] });
    await admin.rotateKey(day.id);
    const end = (await admin.keys({ limit: 200 })).data.find((one) => one.id === day.id)!.expires_at!;
    expect(Math.abs(Date.parse(end) - Date.now() - 86_400_000)).toBeLessThan(60_000);
    const none = await admin.createKey({ name: 'ci', scopes: ['read'] });
    await admin.rotateKey(none.id, { grace: '0s' });
    expect(await statusOf(none.secret)).toBe(401);
  });

  test('an admin rotates the key that it asks with', async () => {
    const mine = await admin.createKey({ name: 'me', scopes: ['admin'] });
    const successor = await api.client(mine.secret).rotateKey(mine.id, { grace: '0s' });
    expect(await statusOf(mine.secret)).toBe(401);
    expect(await statusOf(successor.secret, '/v1/keys')).toBe(200);
  });

  test('is refused for what was rotated, revoked or has expired, with what to do', async () => {
    const old = await admin.createKey({ name: 'x', scopes: ['read'] });
    const { id } = await admin.rotateKey(old.id);
    await expect(admin.rotateKey(old.id)).rejects.toThrow(`was rotated: ${id} is in its place`);
    await admin.revokeKey(id);
    await expect(admin.rotateKey(id)).rejects.toThrow('was revoked');
    const late = await keyOf(['read'], new Date(Date.now() - 1_000));
    await expect(admin.rotateKey(late.id)).rejects.toThrow('has expired');
  });
});

describe('a key with an end', () => {
  const later = new Date(Date.now() + 7_200_000);
  const soon = new Date(Date.now() + 3_600_000);

  test('makes none that lives longer', async () => {
    const guest = api.client((await keyOf(['admin'], soon)).secret);
    expect((await guest.createKey({ name: 'x', scopes: ['read'] })).expires_at).toBe(soon.toISOString());
    expect(await refused(guest.createKey({ name: 'x', scopes: ['read'], expires_in: '10m' }))).toBe(
      'allowed',
    );
    expect(
      await refused(guest.createKey({ name: 'x', scopes: ['read'], expires_at: later.toISOString() })),
    ).toBe('403 forbidden');
  });

  test('takes the secret of none that lives longer, and keeps its own end', async () => {
    const mine = await keyOf(['admin'], soon);
    const guest = api.client(mine.secret);
    for (const end of [null, later]) {
      const longer = await keyOf(['read'], end);
      expect(await refused(guest.rotateKey(longer.id))).toBe('403 forbidden');
      // What has leaked may be closed by any admin.
      expect(await refused(guest.revokeKey(longer.id))).toBe('allowed');
    }
    expect((await guest.rotateKey(mine.id)).expires_at).toBe(soon.toISOString());
  });

  test('that is in its grace makes none that outlives it', async () => {
    const leaked = await admin.createKey({ name: 'leaked', scopes: ['admin'] });
    await admin.rotateKey(leaked.id, { grace: '1h' });
    const made = await api.client(leaked.secret).createKey({ name: 'x', scopes: ['admin'] });
    expect(Date.parse(made.expires_at!)).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });
});

test('the last use is noted, once a minute', async () => {
  const { id, secret } = await admin.createKey({ name: 'used', scopes: ['read'] });
  const lastUse = async () =>
    (await admin.keys({ limit: 200 })).data.find((one) => one.id === id)?.last_used_at;
  expect(await lastUse()).toBeNull();
  await statusOf(secret);
  const first = await lastUse();
  expect(first).not.toBeNull();
  await statusOf(secret);
  expect(await lastUse()).toBe(first);
});

describe('projects', () => {
  test('are made once by an idempotent call, with quotas that may be changed', async () => {
    const made = await operator.createProject({ name: 'team-a', max_running: 2 }, { idempotencyKey: 'one' });
    expect(made).toMatchObject({ name: 'team-a', max_running: 2, weight: 1 });
    expect(
      await operator.createProject({ name: 'team-a', max_running: 2 }, { idempotencyKey: 'one' }),
    ).toEqual(made);
    expect(await refused(operator.createProject({ name: 'team-a' }))).toBe('409 conflict');
    expect(await operator.changeProject(made.id, { weight: 5 })).toEqual({ ...made, weight: 5 });
    expect(await operator.changeProject(made.id, { max_running: null })).toEqual({
      ...made,
      weight: 5,
      max_running: null,
    });
    expect(await operator.project(made.id)).toMatchObject({ weight: 5, max_running: null });
    expect((await operator.projects()).data[0]?.id).toBe(made.id);
  });

  test.each<[string, string, object]>([
    ['a name like an id', '', { name: 'proj_x' }],
    ['no name', '', {}],
    ['a weight of 0', '', { name: 'w', weight: 0 }],
    ['less than none running', '', { name: 'w', max_running: -1 }],
    ['half a job', '', { name: 'w', max_running: 1.5 }],
    ['a change of nothing', '/ID', {}],
    ['another name', '/ID', { name: 'w' }],
  ])('%s is refused', async (_what, path, json) => {
    const method = path === '' ? 'POST' : 'PATCH';
    const response = await api.request(method, `/v1/projects${path.replace('ID', project)}`, {
      json,
      key: api.keys.operator,
    });
    expect(response.status).toBe(422);
  });
});
