// The whole matrix of a job, in the order in which its cells were evaluated.
import { asc, eq } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { evaluations, type EvaluationRow } from '../schema.ts';

export async function listEvaluations(db: Database, jobId: string): Promise<EvaluationRow[]> {
  return await db
    .select()
    .from(evaluations)
    .where(eq(evaluations.jobId, jobId))
    .orderBy(asc(evaluations.seq), asc(evaluations.suite), asc(evaluations.mode), asc(evaluations.metric));
}
