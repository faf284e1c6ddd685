// Jobs that go on from where another one stood, as a resume would: the spec, its version and its defaults are taken over as they are.
import { keepCheckpoint } from '../../db/checkpoints/get.ts';
import type { Database } from '../../db/connect.ts';
import { findDatasets } from '../../db/datasets.ts';
import type { Beginning } from '../../db/jobs/insert.ts';
import { insertJob } from '../../db/jobs/insert.ts';
import type { JobRow } from '../../db/schema.ts';
import { inWords, ProblemError } from '../problem.ts';
import { reachNeeds } from './needs.ts';

/** @throws ProblemError conflict where something that the job had is gone. */
export async function insertAgain(tx: Database, of: JobRow, begins: Beginning): Promise<JobRow> {
  await checkDatasets(tx, of, of.datasetIds);
  if (begins.checkpoint !== null) await checkCheckpoint(tx, of, begins.checkpoint);
  const needs = await reachNeeds(tx, of.projectId, of.expanded.needs);
  if (needs.issues.length > 0)
    throw new ProblemError('conflict', `job ${of.id} needs what has failed: ${inWords(needs.issues)}`);
  const { projectId, spec, expanded, minMemoryGb, specVersion } = of;
  return await insertJob(tx, {
    ...{ projectId, spec, expanded, minMemoryGb, unmetNeeds: needs.unmet },
    begins: { specVersion, ...begins },
  });
}

/** Locks them until the transaction ends. @throws ProblemError conflict where one is gone. */
export async function checkDatasets(
  tx: Database,
  { id, projectId }: JobRow,
  datasetIds: readonly string[],
): Promise<void> {
  const rows = await findDatasets(tx, projectId, datasetIds, 'share');
  const states = new Map(rows.map((row) => [row.id, row.state]));
  for (const dataset of datasetIds) {
    const state = states.get(dataset);
    if (state === undefined || state === 'invalid')
      throw new ProblemError(
        'conflict',
        `dataset ${dataset} of job ${id} is ${state ?? 'gone'}: register the rows again and post a new job`,
      );
  }
}

/** @throws ProblemError conflict where it is gone. */
export async function checkCheckpoint(
  tx: Database,
  { id, projectId }: JobRow,
  checkpoint: string,
): Promise<void> {
  if ((await keepCheckpoint(tx, projectId, checkpoint)) === undefined)
    throw new ProblemError('conflict', `checkpoint ${checkpoint} of job ${id} is gone: post a new job`);
}
