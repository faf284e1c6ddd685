// Uploaded files. A file outlives the jobs that learn from it, and they outlive it: rows are copied into a dataset.
import { and, asc, desc, eq, gt, lt } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { files, type FileRow } from './files/table.ts';
import type { PageOf } from './page.ts';

export type NewFile = Omit<typeof files.$inferInsert, 'createdAt'>;

export async function insertFile(db: Database, file: NewFile): Promise<FileRow> {
  const [row] = await db.insert(files).values(file).returning();
  if (row === undefined) throw new Error('internal: the insert of a file returned no row');
  return row;
}

/** Undefined if the project has no such file. */
export async function getFile(db: Database, projectId: string, id: string): Promise<FileRow | undefined> {
  const [row] = await db
    .select()
    .from(files)
    .where(and(eq(files.projectId, projectId), eq(files.id, id)));
  return row;
}

export interface FilesQuery {
  limit: number;
  order: 'asc' | 'desc';
  after?: string | undefined;
  purpose?: string | undefined;
}

/** In the order of creation, or against it. */
export async function listFiles(
  db: Database,
  projectId: string,
  { limit, order, after, purpose }: FilesQuery,
): Promise<PageOf<FileRow>> {
  const beyond = order === 'asc' ? gt : lt;
  const rows = await db
    .select()
    .from(files)
    .where(
      and(
        eq(files.projectId, projectId),
        after === undefined ? undefined : beyond(files.id, after),
        purpose === undefined ? undefined : eq(files.purpose, purpose),
      ),
    )
    .orderBy(order === 'asc' ? asc(files.id) : desc(files.id))
    .limit(limit + 1);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** The row that was deleted. */
export async function deleteFile(db: Database, projectId: string, id: string): Promise<FileRow | undefined> {
  const [row] = await db
    .delete(files)
    .where(and(eq(files.projectId, projectId), eq(files.id, id)))
    .returning();
  return row;
}
