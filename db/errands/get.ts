// Errands as clients ask for them: without the payload, which may be megabytes.
import { and, eq, getTableColumns } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { errands, type ErrandRow } from './table.ts';

export type ErrandSummaryRow = Omit<ErrandRow, 'payload'>;

// eslint-disable-next-line @typescript-eslint/no-unused-vars
const { payload, ...summary } = getTableColumns(errands);

/** Undefined if the project has no such errand, or it was forgotten. */
export async function getErrand(
  db: Database,
  projectId: string,
  id: string,
): Promise<ErrandSummaryRow | undefined> {
  const [row] = await db
    .select(summary)
    .from(errands)
    .where(and(eq(errands.projectId, projectId), eq(errands.id, id)));
  return row;
}
