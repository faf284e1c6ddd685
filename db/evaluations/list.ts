// The whole matrix of a job, in the order in which its cells were evaluated.
import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { evaluations, type EvaluationRow } from '../schema.ts';

/** `values`, one a task, only on demand: there may be thousands in each cell. */
export async function listEvaluations(
  db: Database,
  jobId: string,
  { values = false }: { values?: boolean } = {},
): Promise<EvaluationRow[]> {
  const columns = getTableColumns(evaluations);
  const none = sql<null>`null`.as('values');
  return await db
    .select({ ...columns, values: values ? columns.values : none })
    .from(evaluations)
    .where(eq(evaluations.jobId, jobId))
    .orderBy(asc(evaluations.seq), asc(evaluations.suite), asc(evaluations.mode), asc(evaluations.metric));
}
