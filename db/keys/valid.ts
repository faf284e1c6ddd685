// When a key opens anything: it is not revoked and its time is not over, by the database's clock, which all processes share.
import { and, gt, isNull, or, sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { apiKeys } from './table.ts';

export const isValid = (): SQL | undefined =>
  and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)));
