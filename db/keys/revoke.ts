// Ends a key at once. A project keeps an admin key that lives as long as the one that goes, unless whoever asks may leave
// it without: else two admins could lock everybody out by revoking each other's keys.
import { and, arrayContains, eq, isNull, not, or, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database } from '../connect.ts';
import { projects } from '../schema.ts';
import { apiKeys } from './table.ts';
import { isValid } from './valid.ts';

export type Revocation = 'revoked' | 'was_revoked' | 'last_admin';

/** undefined if the project has no such key. */
export async function revokeKey(
  db: Database,
  projectId: string,
  id: string,
  { evenLastAdmin = false } = {},
): Promise<Revocation | undefined> {
  return await db.transaction(async (tx) => {
    // Revocations of one project take turns: each must see what the one before it has left.
    await tx
      .select({ id: projects.id })
      .from(projects)
      .where(eq(projects.id, projectId))
      .for('no key update');
    const owned = and(eq(apiKeys.projectId, projectId), eq(apiKeys.id, id));
    const spared = evenLastAdmin ? undefined : or(isNoAdmin(), not(isValid()!), anotherAdminIsLeft(tx));
    const revoked = await tx
      .update(apiKeys)
      .set({ revokedAt: sql`now()` })
      .where(and(owned, isNull(apiKeys.revokedAt), spared))
      .returning({ id: apiKeys.id });
    if (revoked.length > 0) return 'revoked';
    const [row] = await tx.select({ revokedAt: apiKeys.revokedAt }).from(apiKeys).where(owned);
    if (row === undefined) return undefined;
    return row.revokedAt === null ? 'last_admin' : 'was_revoked';
  });
}

const isNoAdmin = () => not(arrayContains(apiKeys.scopes, ['admin']));

function anotherAdminIsLeft(tx: Database) {
  const other = alias(apiKeys, 'other');
  return sql`exists ${tx
    .select({ id: other.id })
    .from(other)
    .where(
      and(
        eq(other.projectId, apiKeys.projectId),
        sql`${other.id} <> ${apiKeys.id}`,
        arrayContains(other.scopes, ['admin']),
        isNull(other.revokedAt),
        // One that was rotated away has a successor, which counts by itself.
        isNull(other.replacedBy),
        sql`coalesce(${other.expiresAt}, 'infinity') >= coalesce(${apiKeys.expiresAt}, 'infinity')`,
      ),
    )}`;
}
