// API keys and runner tokens. The database holds SHA-256 hashes only: a key is 160 random bits, so
// a slow hash would add nothing.
import { createHash } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { apiKeys } from './schema.ts';

export interface NewKey {
  projectId: string;
  name: string;
  scopes: readonly string[];
  /** The key itself, where the caller brings its own; at least 20 characters. */
  secret?: string;
}

export interface KnownKey {
  id: string;
  projectId: string;
  scopes: string[];
}

/** Makes a key; `secret` is shown this once and kept nowhere. */
export async function createKey(db: Database, key: NewKey): Promise<{ id: string; secret: string }> {
  const secret = key.secret ?? newSecret();
  if (secret.length < 20) throw new Error('a key must have at least 20 characters');
  const id = newId('key');
  await db.insert(apiKeys).values({
    id,
    projectId: key.projectId,
    name: key.name,
    hash: hashKey(secret),
    scopes: [...key.scopes],
  });
  return { id, secret };
}

/** Who this key is; undefined if it is unknown or revoked. */
export async function findKey(db: Database, secret: string): Promise<KnownKey | undefined> {
  const [row] = await db
    .select({ id: apiKeys.id, projectId: apiKeys.projectId, scopes: apiKeys.scopes })
    .from(apiKeys)
    .where(and(eq(apiKeys.hash, hashKey(secret)), isNull(apiKeys.revokedAt)));
  return row;
}

/** False if the project has no such key that is still valid. */
export async function revokeKey(db: Database, projectId: string, id: string): Promise<boolean> {
  const rows = await db
    .update(apiKeys)
    .set({ revokedAt: new Date() })
    .where(and(eq(apiKeys.id, id), eq(apiKeys.projectId, projectId), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id });
  return rows.length > 0;
}

function hashKey(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return `mr_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
