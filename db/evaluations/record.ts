// Cells of the stage x suite x mode matrix, from the `evaluation` entries of a report. An evaluation
// done again by a later attempt replaces its cells.
import { sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { evaluations, type EvaluationRow } from '../schema.ts';

export type NewEvaluation = Omit<EvaluationRow, 'projectId' | 'jobId' | 'attempt'>;

export async function recordEvaluations(
  db: Database,
  of: { job: string; attempt: number; projectId: string },
  cells: readonly NewEvaluation[],
): Promise<void> {
  if (cells.length === 0) return;
  await db
    .insert(evaluations)
    .values(
      latest(cells).map((cell) => ({ ...cell, jobId: of.job, attempt: of.attempt, projectId: of.projectId })),
    )
    .onConflictDoUpdate({
      target: [
        evaluations.jobId,
        evaluations.after,
        evaluations.step,
        evaluations.suite,
        evaluations.mode,
        evaluations.metric,
      ],
      set: {
        domain: sql`excluded.domain`,
        value: sql`excluded.value`,
        low: sql`excluded.low`,
        high: sql`excluded.high`,
        tasks: sql`excluded.tasks`,
        values: sql`excluded.values`,
        attempt: sql`excluded.attempt`,
        seq: sql`excluded.seq`,
      },
      setWhere: sql`${evaluations.attempt} <= excluded.attempt`,
    });
}

// One statement may not touch a row twice: of cells with one place the last one counts.
function latest(cells: readonly NewEvaluation[]): NewEvaluation[] {
  const placed = cells.map((cell) => {
    const { after, step, suite, mode, metric } = cell;
    return [JSON.stringify([after, step, suite, mode, metric]), cell] as const;
  });
  return [...new Map(placed).values()];
}
