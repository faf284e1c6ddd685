// The table of API keys: scopes, ends and uses of each; of its secret the hash.
import { pgTable, text } from 'drizzle-orm/pg-core';
import type { Scope } from '../../api/contract/keys.ts';
import { createdAt, ownedBy, time } from '../schema.ts';

/** The key itself is never kept: `hash` is its SHA-256 in hex, `prefix` its first characters, null for keys made before there was one. */
export const apiKeys = pgTable('api_keys', {
  id: text('id').primaryKey(),
  projectId: ownedBy(),
  name: text('name').notNull(),
  hash: text('hash').notNull().unique(),
  scopes: text('scopes').array().$type<Scope[]>().notNull(),
  prefix: text('prefix'),
  createdAt: createdAt(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  lastUsedAt: time('last_used_at'),
  /** The key that a rotation put in its place; this one is valid until `expires_at`. */
  replacedBy: text('replaced_by'),
});

export type KeyRow = typeof apiKeys.$inferSelect;
