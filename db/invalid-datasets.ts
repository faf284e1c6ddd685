// A dataset with broken rows keeps its name only until a better one comes: no job can have been made with it.
import { and, eq } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { datasets } from './schema.ts';

/** Frees the name of an invalid dataset; false if the project has none by this id. */
export async function deleteInvalidDataset(db: Database, projectId: string, id: string): Promise<boolean> {
  const rows = await db
    .delete(datasets)
    .where(and(eq(datasets.projectId, projectId), eq(datasets.id, id), eq(datasets.state, 'invalid')))
    .returning({ id: datasets.id });
  return rows.length > 0;
}
