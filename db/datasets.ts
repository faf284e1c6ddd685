// Datasets: the row that names an uploaded file. A name belongs to one dataset of a project.
import { and, eq, inArray, or } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from './page.ts';
import { datasets, type DatasetRow } from './schema.ts';

export type NewDataset = Omit<typeof datasets.$inferInsert, 'createdAt' | 'id'> & { id?: string };

/** Undefined if the name is taken in this project. */
export async function insertDataset(db: Database, dataset: NewDataset): Promise<DatasetRow | undefined> {
  const [row] = await db
    .insert(datasets)
    .values({ id: newId('ds'), ...dataset })
    .onConflictDoNothing({ target: [datasets.projectId, datasets.name] })
    .returning();
  return row;
}

/** Frees the name of a dataset with broken rows, with which no job can have been made; false if there is none by this id. */
export async function deleteInvalidDataset(db: Database, projectId: string, id: string): Promise<boolean> {
  const rows = await db
    .delete(datasets)
    .where(and(eq(datasets.projectId, projectId), eq(datasets.id, id), eq(datasets.state, 'invalid')))
    .returning({ id: datasets.id });
  return rows.length > 0;
}

export async function getDataset(
  db: Database,
  projectId: string,
  id: string,
): Promise<DatasetRow | undefined> {
  const [row] = await db
    .select()
    .from(datasets)
    .where(and(eq(datasets.projectId, projectId), eq(datasets.id, id)));
  return row;
}

/**
 * The datasets that a spec names, by id or by name; what is missing is simply not among them. Locked, none of them is deleted
 * or decided about before the transaction ends.
 */
export async function findDatasets(
  db: Database,
  projectId: string,
  idsOrNames: readonly string[],
  lock?: 'share',
): Promise<DatasetRow[]> {
  if (idsOrNames.length === 0) return [];
  const wanted = [...idsOrNames];
  const named = or(inArray(datasets.id, wanted), inArray(datasets.name, wanted));
  const found = db
    .select()
    .from(datasets)
    .where(and(eq(datasets.projectId, projectId), named));
  return await (lock === undefined ? found : found.for(lock));
}

/** Newest first. */
export async function listDatasets(
  db: Database,
  projectId: string,
  query: PageQuery,
): Promise<PageOf<DatasetRow>> {
  const { where, order, take } = pageWindow(datasets.id, query);
  const owned = and(eq(datasets.projectId, projectId), where);
  return toPage(await db.select().from(datasets).where(owned).orderBy(order).limit(take), query);
}
