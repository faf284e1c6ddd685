// Pages of lists that run from the newest to the oldest, by id: ids sort by time.
import { asc, desc, gt, lt, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

export interface PageOf<T> {
  rows: T[];
  hasMore: boolean;
}

/** `after`: the last id of the page before; `before`: the first id of the page after. Give one at most. */
export interface PageQuery {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

/** Condition and order that make the page; ask for one row more than `limit`, then call `toPage`. */
export function pageWindow(
  id: PgColumn,
  query: PageQuery,
): { where: SQL | undefined; order: SQL; take: number } {
  const take = query.limit + 1;
  if (query.before !== undefined) return { where: gt(id, query.before), order: asc(id), take };
  return { where: query.after === undefined ? undefined : lt(id, query.after), order: desc(id), take };
}

export function toPage<T>(rows: T[], query: PageQuery): PageOf<T> {
  const kept = rows.slice(0, query.limit);
  if (query.before !== undefined) kept.reverse();
  return { rows: kept, hasMore: rows.length > query.limit };
}
