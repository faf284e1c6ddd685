// The table of rules, asked of the app itself: every route, with a key of every scope and with none that opens anything, about
// a thing of its own project and of another's. What is another's looks like what does not exist, and stays as it was.
import { beforeAll, describe, expect, test } from 'vitest';
import { accessTable } from '../../api/access.ts';
import type { Scope } from '../../api/contract/keys.ts';
import { scopes } from '../../api/contract/keys.ts';
import { newRouter } from '../../api/openapi.ts';
import { createKey } from '../../db/keys.ts';
import { revokeKey } from '../../db/keys/revoke.ts';
import type { AccessCase, Call } from './access-cases.ts';
import { cases } from './access-cases.ts';
import { openAi } from './openai/support.ts';
import type { Owner } from './owner.ts';
import { makeOwner } from './owner.ts';
import { useApi } from './support.ts';

const api = useApi();
let ours: Owner;
let theirs: Owner;
/** Keys that open nothing: none, and one of each way to be none. */
const dead: Record<string, string | null> = {
  'no key': null,
  'an unknown key': `mr_${'0'.repeat(40)}`,
};

beforeAll(async () => {
  ours = await makeOwner(api.client(), openAi(api), 'mark-of-ours');
  theirs = await makeOwner(api.client(api.strangerKey), openAi(api, api.strangerKey), 'mark-of-theirs');
  const key = (expiresAt: Date | null = null) =>
    createKey(api.database.db, { projectId: ours.project, name: 'dead', scopes: [...scopes], expiresAt });
  dead['an expired key'] = (await key(new Date(Date.now() - 1_000))).secret;
  const revoked = await key();
  await revokeKey(api.database.db, ours.project, revoked.id, { evenLastAdmin: true });
  dead['a revoked key'] = revoked.secret;
});

/** Paths that our keys have asked for: what they name themselves, the audit trail may tell them. */
const asked: string[] = [];

function ask(route: string, { path, ...init }: Call, key: string | null): Promise<Response> {
  asked.push(path);
  return api.request(route.split(' ')[0]!, path, { ...init, key });
}

/** Status and code, of a problem as of an error in OpenAI's form. */
async function problemOf(response: Response): Promise<string> {
  return `${response.status} ${codeIn(await response.text())}`;
}

const codeIn = (text: string): string => /"code":"(\w+)"/.exec(text)?.[1] ?? 'without effect';

/** All that the other project has, but for when its keys were used and what is on its audit trail. */
async function stateOf(project: string): Promise<string> {
  const tables = await api.database.sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'project_id' and table_name <> 'audit_rows' order by 1`;
  const rows = await api.database.sql.unsafe(
    tables
      .map(
        ({ name }) =>
          `select '${name}' as name, md5(string_agg((to_jsonb(t) - 'last_used_at')::text, ',' order by t::text)) as rows
           from ${name} t where project_id = '${project}'`,
      )
      .join(' union all '),
  );
  return JSON.stringify(rows);
}

test('the table has every route, with the scopes that its rule admits', () => {
  const stated = Object.entries(cases).map(([route, { admits }]) => [route, admits]);
  expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(accessTable(api.app)));
});

test('an app with a route that has no rule is not made', () => {
  const app = newRouter();
  app.get('/v1/secrets', (c) => c.text('everything'));
  expect(() => accessTable(app)).toThrow('GET /v1/secrets says not who may call it');
});

test('outside of /v1/ are only routes that no key of a project opens', () => {
  const open = api.app.routes.filter(({ method, path }) => method !== 'ALL' && !path.startsWith('/v1/'));
  expect([...new Set(open.map(({ method, path }) => `${method} ${path}`))].sort()).toEqual([
    'GET /healthz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /readyz',
  ]);
});

test('the OpenAPI document carries the table', async () => {
  const document = (await (await api.request('GET', '/openapi.json', { key: null })).json()) as {
    paths: Record<string, Record<string, { 'x-scopes'?: Scope[] }>>;
  };
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, route] of Object.entries(methods))
      expect(route['x-scopes'], `${method} ${path}`).toEqual(
        cases[`${method.toUpperCase()} ${path}`]?.admits,
      );
});

describe.each(Object.entries(cases))('%s', (route, rule) => {
  test.each(['no key', 'an unknown key', 'an expired key', 'a revoked key'])('with %s: 401', async (kind) => {
    const response = await ask(route, await rule.request(ours), dead[kind] ?? null);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await problemOf(response)).toBe('401 unauthorized');
  });

  test.each(scopes)('with the scope %s', async (scope) => {
    const key = api.keys[scope];
    const [own, foreign] = [await rule.request(ours), await rule.request(theirs)];
    if (!rule.admits.includes(scope)) {
      expect(await problemOf(await ask(route, own, key))).toBe('403 forbidden');
      expect(await problemOf(await ask(route, foreign, key))).toBe('403 forbidden');
      return;
    }
    if (scope === 'shared_runner' && rule.ofOwnRunner === true) {
      expect(await problemOf(await ask(route, own, key))).toBe(rule.foreign);
      return expectForeign(route, rule, foreign, key);
    }
    await expectOwn(route, rule, own, scope);
    if (rule.foreign === 'nothing') return;
    if (scope === 'operator') {
      expect(rule.everywhere).toBe(true);
      expect((await ask(route, foreign, key)).status).toBe(rule.own);
    } else await expectForeign(route, rule, foreign, key);
  });
});

/** Allowed, and nothing of the other project in the answer. */
async function expectOwn(route: string, rule: AccessCase, call: Call, scope: Scope): Promise<void> {
  const response = await ask(route, call, api.keys[scope]);
  expect(response.status).toBe(rule.own);
  const text = await response.text();
  expect(text).not.toContain(theirs.mark);
  if (scope === 'operator') return;
  const told = [...theirs.ids].filter((id) => text.includes(id));
  expect(told.filter((id) => !asked.some((path) => path.includes(id)))).toEqual([]);
}

/** As if it did not exist; nothing of it is told, and nothing of it changes. */
async function expectForeign(route: string, rule: AccessCase, call: Call, key: string): Promise<void> {
  const before = await stateOf(theirs.project);
  const response = await ask(route, call, key);
  const text = await response.text();
  expect(text).not.toContain(theirs.mark);
  expect(`${response.status} ${codeIn(text)}`).toBe(rule.foreign);
  expect(await stateOf(theirs.project)).toBe(before);
}
