// Keys as their owners see them. Whoever asks must know whose they may see: undefined stands for every project.
import { and, eq } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from '../page.ts';
import { apiKeys, type KeyRow } from './table.ts';
import { isValid } from './valid.ts';

/** Newest first, revoked ones with the others. */
export async function listKeys(
  db: Database,
  projectId: string | undefined,
  query: PageQuery,
): Promise<PageOf<KeyRow>> {
  const { where, order, take } = pageWindow(apiKeys.id, query);
  const owned = projectId === undefined ? undefined : eq(apiKeys.projectId, projectId);
  return toPage(await db.select().from(apiKeys).where(and(owned, where)).orderBy(order).limit(take), query);
}

export async function getKey(
  db: Database,
  projectId: string | undefined,
  id: string,
): Promise<KeyRow | undefined> {
  const owned = projectId === undefined ? undefined : eq(apiKeys.projectId, projectId);
  const [row] = await db
    .select()
    .from(apiKeys)
    .where(and(owned, eq(apiKeys.id, id)));
  return row;
}

/** Whether the key still opens anything: for what outlives a request. */
export async function isKeyValid(db: Database, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id), isValid()));
  return rows.length > 0;
}
