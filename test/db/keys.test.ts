// Keys in the database: found by their hash, valid until revoked or expired, rotated with a grace; and whose last admin key
// may go.
import { eq, sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../api/contract/keys.ts';
import type { Database } from '../../db/connect.ts';
import { createKey, findKey, hashKey } from '../../db/keys.ts';
import { getKey, isKeyValid } from '../../db/keys/list.ts';
import { revokeKey } from '../../db/keys/revoke.ts';
import { rotateKey } from '../../db/keys/rotate.ts';
import { noteUse } from '../../db/keys/use.ts';
import { apiKeys } from '../../db/keys/table.ts';
import { useDatabase } from '../support/postgres.ts';
import { insertProject, upTo } from './support.ts';

const pg = useDatabase();

const make = (projectId: string, ...scopes: Scope[]) => createKey(pg.db, { projectId, name: 'ci', scopes });
const find = (secret: string) => findKey(pg.db, hashKey(secret));
const inAnHour = () => new Date(Date.now() + 3_600_000);

/** An hour passes for one key. */
const age = (db: Database, id: string) =>
  db
    .update(apiKeys)
    .set({
      expiresAt: sql`expires_at - interval '1 hour'`,
      lastUsedAt: sql`last_used_at - interval '1 hour'`,
    })
    .where(eq(apiKeys.id, id));

describe('a key', () => {
  test('is found by its hash, kept as that only, recognised by its first characters', async () => {
    const projectId = await insertProject(pg.db);
    const { id, secret } = await make(projectId, 'submit', 'runner');
    expect(await find(secret)).toEqual({
      id,
      projectId,
      name: 'ci',
      scopes: ['submit', 'runner'],
      expiresAt: null,
      isUseStale: true,
    });
    expect(await find(`${secret}0`)).toBeUndefined();
    const [row] = await pg.sql`select * from api_keys where id = ${id}`;
    expect(JSON.stringify(row)).not.toContain(secret.slice(12));
    expect(row?.['prefix']).toBe(secret.slice(0, 11));
    expect(secret).toMatch(/^mr_[0-9a-f]{40}$/);
  });

  test('opens nothing once it has expired, for lookups and for streams', async () => {
    const projectId = await insertProject(pg.db);
    const { id, secret } = await createKey(pg.db, {
      projectId,
      name: 'ci',
      scopes: ['read'],
      expiresAt: inAnHour(),
    });
    expect(await find(secret)).toBeDefined();
    expect(await isKeyValid(pg.db, id)).toBe(true);
    await age(pg.db, id);
    expect(await find(secret)).toBeUndefined();
    expect(await isKeyValid(pg.db, id)).toBe(false);
  });

  test('notes its use once a minute', async () => {
    const { id, secret } = await make(await insertProject(pg.db), 'read');
    await noteUse(pg.db, id);
    const used = (await getKey(pg.db, undefined, id))?.lastUsedAt;
    expect(used).toBeInstanceOf(Date);
    expect((await find(secret))?.isUseStale).toBe(false);
    await Promise.all(upTo(5).map(() => noteUse(pg.db, id)));
    expect((await getKey(pg.db, undefined, id))?.lastUsedAt).toEqual(used);
    await age(pg.db, id);
    expect((await find(secret))?.isUseStale).toBe(true);
    await noteUse(pg.db, id);
    expect((await getKey(pg.db, undefined, id))?.lastUsedAt?.getTime()).toBeGreaterThanOrEqual(
      used!.getTime(),
    );
  });
});

describe('revoking', () => {
  test('ends a key of the project at once, and once', async () => {
    const projectId = await insertProject(pg.db);
    const { id, secret } = await make(projectId, 'read');
    expect(await revokeKey(pg.db, await insertProject(pg.db), id)).toBeUndefined();
    expect(await revokeKey(pg.db, projectId, id)).toBe('revoked');
    expect(await find(secret)).toBeUndefined();
    const { revokedAt } = (await getKey(pg.db, projectId, id))!;
    expect(await revokeKey(pg.db, projectId, id)).toBe('was_revoked');
    expect((await getKey(pg.db, projectId, id))?.revokedAt).toEqual(revokedAt);
  });

  test('leaves the last admin key, unless told to', async () => {
    const projectId = await insertProject(pg.db);
    const { id } = await make(projectId, 'admin', 'read');
    await make(projectId, 'submit');
    await make(await insertProject(pg.db), 'admin');
    expect(await revokeKey(pg.db, projectId, id)).toBe('last_admin');
    expect(await revokeKey(pg.db, projectId, id, { evenLastAdmin: true })).toBe('revoked');
  });

  test('counts only admin keys that live as long and have no successor', async () => {
    const projectId = await insertProject(pg.db);
    const { id } = await make(projectId, 'admin');
    const guest = await createKey(pg.db, {
      projectId,
      name: 'guest',
      scopes: ['admin'],
      expiresAt: inAnHour(),
    });
    expect(await revokeKey(pg.db, projectId, id)).toBe('last_admin');
    // The guest leaves the one that lives longer.
    expect(await revokeKey(pg.db, projectId, guest.id)).toBe('revoked');
    const successor = await rotateKey(pg.db, projectId, id, 3_600_000);
    expect(await revokeKey(pg.db, projectId, successor!.id)).toBe('last_admin');
    expect(await revokeKey(pg.db, projectId, id)).toBe('revoked');
  });

  test('an expired admin key is no loss', async () => {
    const projectId = await insertProject(pg.db);
    const { id } = await createKey(pg.db, { projectId, name: 'x', scopes: ['admin'], expiresAt: inAnHour() });
    await age(pg.db, id);
    expect(await revokeKey(pg.db, projectId, id)).toBe('revoked');
  });

  test.each(upTo(10))('of all admin keys at once leaves exactly one (%i)', async () => {
    const projectId = await insertProject(pg.db);
    const keys = await Promise.all(upTo(6).map(() => make(projectId, 'admin')));
    const ends = await Promise.all(keys.map(({ id }) => revokeKey(pg.db, projectId, id)));
    expect(ends.toSorted()).toEqual(['last_admin', ...upTo(5).map(() => 'revoked')]);
  });
});

describe('rotating', () => {
  test('gives the same under a new secret; the old one stays for the grace', async () => {
    const projectId = await insertProject(pg.db);
    const old = await make(projectId, 'submit', 'read');
    const before = Date.now();
    const successor = (await rotateKey(pg.db, projectId, old.id, 3_600_000))!;
    expect(successor.row).toMatchObject({
      projectId,
      name: 'ci',
      scopes: ['submit', 'read'],
      expiresAt: null,
      replacedBy: null,
    });
    expect(successor.secret).not.toBe(old.secret);
    expect(await find(old.secret)).toBeDefined();
    const row = (await getKey(pg.db, projectId, old.id))!;
    expect(row.replacedBy).toBe(successor.id);
    expect(row.expiresAt!.getTime()).toBeGreaterThanOrEqual(before + 3_600_000 - 1_000);
    await age(pg.db, old.id);
    expect(await find(old.secret)).toBeUndefined();
    expect(await find(successor.secret)).toBeDefined();
  });

  test('without a grace ends the old secret with the answer', async () => {
    const projectId = await insertProject(pg.db);
    const old = await make(projectId, 'read');
    const successor = await rotateKey(pg.db, projectId, old.id, 0);
    expect(await find(old.secret)).toBeUndefined();
    expect(await find(successor!.secret)).toBeDefined();
  });

  test('lengthens no life: neither the successor’s nor, by the grace, its own', async () => {
    const projectId = await insertProject(pg.db);
    const expiresAt = inAnHour();
    const old = await createKey(pg.db, { projectId, name: 'x', scopes: ['admin'], expiresAt });
    const successor = await rotateKey(pg.db, projectId, old.id, 30 * 86_400_000);
    expect(successor!.row.expiresAt).toEqual(expiresAt);
    expect((await getKey(pg.db, projectId, old.id))?.expiresAt).toEqual(expiresAt);
  });

  test('is refused for keys of others, revoked, expired or rotated before; of ten at once one succeeds', async () => {
    const projectId = await insertProject(pg.db);
    const old = await make(projectId, 'read');
    expect(await rotateKey(pg.db, await insertProject(pg.db), old.id, 0)).toBeUndefined();
    const all = await Promise.all(upTo(10).map(() => rotateKey(pg.db, projectId, old.id, 1_000_000)));
    expect(all.filter((one) => one !== undefined)).toHaveLength(1);
    const revoked = await make(projectId, 'read');
    await revokeKey(pg.db, projectId, revoked.id);
    expect(await rotateKey(pg.db, projectId, revoked.id, 0)).toBeUndefined();
  });
});
