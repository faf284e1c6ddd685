// What becomes of a dataset whose gold was being proven, in the transaction that ends the errand: it is ready, or it is
// invalid and the jobs that wait for it fail. Jobs are inserted under a shared lock of their datasets, so none is missed.
import { and, eq, sql } from 'drizzle-orm';
import type { GoldReport } from '../../api/contract/dataset.ts';
import type { Database } from '../connect.ts';
import { datasets, jobs, type DatasetRow } from '../schema.ts';

/** `found`: what proving it found, or why that cannot be done. */
export async function decideDataset(tx: Database, id: string, found: GoldReport | string): Promise<void> {
  const [dataset] = await tx.select().from(datasets).where(eq(datasets.id, id)).for('update');
  if (dataset?.state !== 'validating') return;
  const message =
    typeof found === 'string' ? `its gold could not be proven: ${found}` : faultOf(dataset, found);
  await tx
    .update(datasets)
    .set({
      state: message === null ? 'ready' : 'invalid',
      message,
      report: { ...dataset.report, ...(typeof found === 'string' ? {} : found) },
    })
    .where(eq(datasets.id, id));
  if (message !== null) await failWaitingJobs(tx, dataset, message);
}

/** Notes why a dataset is not proven yet; it goes on waiting. */
export async function explainWaiting(tx: Database, id: string, why: string): Promise<void> {
  await tx
    .update(datasets)
    .set({ message: `not proven yet, tried again soon: ${why}` })
    .where(and(eq(datasets.id, id), eq(datasets.state, 'validating')));
}

function faultOf({ rows, grader }: DatasetRow, { broken, issues }: GoldReport): string | null {
  if (broken === 0) return null;
  const named = issues.slice(0, 10).map(({ row }) => row);
  const [first] = issues;
  const example =
    first === undefined ? '' : `; row ${first.row}: ${first.message.slice(0, 300).toWellFormed()}`;
  return (
    `grader "${grader?.type}" cannot grade ${broken} of ${rows} rows, or does not give their gold the maximum: ` +
    `rows ${named.join(', ')}${broken > named.length ? ', …' : ''}${example}`
  );
}

async function failWaitingJobs(
  tx: Database,
  { id, name, projectId }: DatasetRow,
  why: string,
): Promise<void> {
  await tx
    .update(jobs)
    .set({
      state: 'failed',
      reason: 'invalid_data',
      message: `dataset ${name} (${id}) is invalid: ${why}`,
      finishedAt: sql`now()`,
    })
    .where(
      and(eq(jobs.projectId, projectId), eq(jobs.state, 'queued'), sql`${id} = any(${jobs.datasetIds})`),
    );
}
