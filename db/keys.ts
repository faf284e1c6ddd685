// API keys and runner tokens. The database holds SHA-256 hashes only: a key is 160 random bits, so
// a slow hash would add nothing.
import { createHash } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import type { Scope } from '../api/contract/keys.ts';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { isUseStale } from './keys/use.ts';
import { isValid } from './keys/valid.ts';
import { apiKeys, type KeyRow } from './keys/table.ts';

export interface NewKey {
  projectId: string;
  name: string;
  scopes: readonly Scope[];
  /** Null or omitted: it is valid until it is revoked. */
  expiresAt?: Date | null;
}

export interface CreatedKey {
  id: string;
  /** Shown this once and kept nowhere. */
  secret: string;
  row: KeyRow;
}

export interface KnownKey {
  id: string;
  projectId: string;
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
  /** Its last use was noted too long ago. */
  isUseStale: boolean;
}

/** Enough to recognise a key by; what is left of it has 128 bits. */
const prefixLength = 'mr_'.length + 8;

export async function createKey(db: Database, key: NewKey): Promise<CreatedKey> {
  const secret = newSecret();
  const [row] = await db
    .insert(apiKeys)
    .values({
      id: newId('key'),
      projectId: key.projectId,
      name: key.name,
      hash: hashKey(secret),
      prefix: secret.slice(0, prefixLength),
      scopes: [...key.scopes],
      expiresAt: key.expiresAt ?? null,
    })
    .returning();
  if (row === undefined) throw new Error(`internal: key ${key.name} was not inserted`);
  return { id: row.id, secret, row };
}

/** Who the key of this hash is; undefined if it is unknown, was revoked or has expired. */
export async function findKey(db: Database, hash: string): Promise<KnownKey | undefined> {
  const { id, projectId, name, scopes, expiresAt } = apiKeys;
  const [row] = await db
    .select({ id, projectId, name, scopes, expiresAt, isUseStale: isUseStale() })
    .from(apiKeys)
    .where(and(eq(apiKeys.hash, hash), isValid()));
  return row;
}

/** By which a secret is found. */
export function hashKey(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return `mr_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
