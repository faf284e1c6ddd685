// What a posted spec refers to, looked up and checked, so that a job is refused when it is posted rather than on a
// runner: datasets by id or name (of the right kind, and not invalid), the checkpoint that the model starts from, those that score,
// those that teach.
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import type { Database } from '../../db/connect.ts';
import { findDatasets } from '../../db/datasets.ts';
import type { DatasetRow } from '../../db/schema.ts';
import { beginProblem } from '../contract/checkpoint.ts';
import type { DataReference, ExpandedSpec } from '../contract/expand.ts';
import { dataReferences, expandSpec, graderReferences, rewardModelReferences } from '../contract/expand.ts';
import type { Issue } from '../contract/issues.ts';
import { lengthIssues } from '../contract/memory/lengths.ts';
import type { JobSpec } from '../contract/spec.ts';
import type { Services } from '../context.ts';
import { inWords, ProblemError } from '../problem.ts';
import { addressIssues } from './graders.ts';
import type { ReachedNeeds } from './needs.ts';
import type { ReachedModel } from './reach-model.ts';
import type { ReachedRewardModels } from './reward-models.ts';
import { rewardModelIssues } from './reward-models.ts';
import type { ReachedTeachers } from './teachers.ts';

export interface ResolveOptions
  extends Pick<ReachedModel, 'positions'>, Pick<Services, 'allowPrivateAddresses'> {
  readonly rewardModels: ReachedRewardModels;
  readonly teachers: ReachedTeachers;
  readonly needs: ReachedNeeds;
}

/** @throws ProblemError invalid_spec naming every reference and every length that does not hold. */
export async function resolveSpec(
  db: Database,
  projectId: string,
  spec: JobSpec,
  { positions, allowPrivateAddresses, rewardModels, teachers, needs }: ResolveOptions,
): Promise<ExpandedSpec> {
  const references = dataReferences(spec);
  const rows = await findDatasets(db, projectId, [...new Set(references.map(({ data }) => data))], 'share');
  // Ids last: a dataset that is named like another one's id does not hide it.
  const found = new Map([
    ...rows.map((row) => [row.name, row] as const),
    ...rows.map((row) => [row.id, row] as const),
  ]);
  const issues = [
    ...references.flatMap((reference) => datasetIssue(reference, found.get(reference.data))),
    ...(await checkpointIssue(db, projectId, spec)),
    ...graderReferences(spec).flatMap((reference) => addressIssues(reference, allowPrivateAddresses)),
    ...(await issuesOfRewardModels(db, projectId, spec, rewardModels)),
    ...teachers.issues,
    ...needs.issues,
    ...(positions === undefined ? [] : lengthIssues(spec, positions)),
  ];
  if (issues.length > 0) throw new ProblemError('invalid_spec', inWords(issues), { issues });
  return expandSpec(spec, new Map([...found].map(([said, row]) => [said, row.id])), teachers.teacherOf);
}

function datasetIssue({ pointer, data, kinds }: DataReference, row: DatasetRow | undefined): Issue[] {
  const what = JSON.stringify(data.slice(0, 100));
  if (row === undefined && data.startsWith('file:'))
    return [
      {
        pointer,
        message: `${what}: files are for millrace submit, which uploads them; name a dataset (POST /v1/datasets)`,
      },
    ];
  if (row === undefined)
    return [{ pointer, message: `there is no dataset ${what}: register it first (POST /v1/datasets)` }];
  if (!kinds.includes(row.kind))
    return [
      {
        pointer,
        message: `dataset ${what} has rows of kind ${row.kind}; here ${kinds.join(' or ')} is needed`,
      },
    ];
  if (row.state === 'invalid')
    return [
      {
        pointer,
        message: `dataset ${what} is invalid: ${row.message ?? `it has ${row.report.broken} broken rows`}; its report names them`,
      },
    ];
  // One that is being validated is waited for.
  return [];
}

async function checkpointIssue(db: Database, projectId: string, spec: JobSpec): Promise<Issue[]> {
  const { init } = spec.model;
  if (init.from !== 'checkpoint') return [];
  const pointer = '/model/init/checkpoint';
  const row = await getCheckpoint(db, projectId, init.checkpoint);
  if (row === undefined) return [{ pointer, message: `there is no checkpoint ${init.checkpoint}` }];
  const problem = beginProblem(row.files.map(({ name }) => name));
  return problem === undefined ? [] : [{ pointer, message: `checkpoint ${row.id} ${problem}` }];
}

async function issuesOfRewardModels(
  db: Database,
  projectId: string,
  spec: JobSpec,
  reached: ReachedRewardModels,
): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const reference of rewardModelReferences(spec))
    issues.push(...(await rewardModelIssues(db, projectId, reference, reached)));
  return issues;
}
