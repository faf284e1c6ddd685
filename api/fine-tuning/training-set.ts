// A training file as the dataset that a job learns from. The dataset's name is a hash of the file's bytes and of how they are
// read, so that the same rows are registered once, however often they are uploaded or trained on.
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { findDatasets } from '../../db/datasets.ts';
import { getFile } from '../../db/files.ts';
import type { FileRow } from '../../db/files/table.ts';
import type { Services } from '../context.ts';
import type { Dataset } from '../contract/dataset.ts';
import type { FineTuningMethod } from '../contract/fine-tuning.ts';
import type { Issue } from '../contract/issues.ts';
import { issuesOf } from '../contract/issues.ts';
import type { DatasetKind } from '../contract/task.ts';
import { learntRows, reinforcementRow, supervisedRow } from '../contract/training-row.ts';
import { registerRows } from '../datasets/register.ts';
import { readRows } from '../datasets/rows.ts';
import { unpack } from '../datasets/unpack.ts';
import { isTooDeep, unstorableIssues } from '../json.ts';
import { ProblemError } from '../problem.ts';
import { datasetView } from '../views.ts';
import { graderOf, kindOf, taskOf } from './grader.ts';

export type FileParam = 'training_file' | 'validation_file';

/** Changes when the same file would give other rows. */
const readingVersion = 1;
const namedFaults = 20;

/** @throws ProblemError invalid_spec where there is no such file, or its rows are not of the form that the method takes. */
export async function trainingSet(
  services: Services,
  projectId: string,
  { param, id, method }: { param: FileParam; id: string; method: FineTuningMethod },
): Promise<Dataset> {
  const file = await getFile(services.db, projectId, id);
  if (file === undefined)
    throw refused(param, [
      {
        pointer: '',
        message: `there is no file ${JSON.stringify(id.slice(0, 100))}: upload it (POST /v1/files)`,
      },
    ]);
  const name = nameOf(file, method);
  const [former] = await findDatasets(services.db, projectId, [name]);
  if (former !== undefined && former.state !== 'invalid') return datasetView(former);
  const { kind, rows } = await convert(rowsOf(services, file), method, param);
  const upload = {
    projectId,
    name,
    mapping: { kind, fields: {}, answerFormat: 'plain' as const },
    grader: method.type === 'reinforcement' ? graderOf(method.reinforcement.grader) : undefined,
    idempotencyKey: undefined,
  };
  const registered = (await registerRows(services, upload, rows)).body as Dataset;
  if (registered.state === 'invalid')
    throw refused(param, [{ pointer: '', message: registered.message ?? 'its rows are not valid' }]);
  return registered;
}

function nameOf({ sha256 }: FileRow, method: FineTuningMethod): string {
  const grader = method.type === 'reinforcement' ? method.reinforcement.grader : null;
  const reading = JSON.stringify([readingVersion, sha256, method.type, grader]);
  return `file-${createHash('sha256').update(reading).digest('hex').slice(0, 40)}`;
}

async function* rowsOf(
  { store, limits }: Services,
  { key }: FileRow,
): AsyncGenerator<unknown, void, undefined> {
  const bytes = (await store.get(key)) as AsyncIterable<Buffer>;
  yield* readRows(unpack(bytes, undefined, limits), limits);
}

interface Converted {
  readonly kind: DatasetKind;
  readonly rows: AsyncIterable<unknown>;
}

/** The kind of a reinforcement file's rows is that of its first row. */
async function convert(
  rows: AsyncGenerator<unknown, void, undefined>,
  method: FineTuningMethod,
  param: FileParam,
): Promise<Converted> {
  if (method.type === 'supervised')
    return { kind: 'sft', rows: converted(rows, supervisedRow, (row) => learntRows(row), param) };
  const { grader } = method.reinforcement;
  const first = await rows.next();
  const kind = kindOf(grader, first.done === true ? {} : first.value);
  if (typeof kind !== 'string') throw refused(param, [{ pointer: '', message: kind.message }]);
  async function* all(): AsyncGenerator<unknown, void, undefined> {
    if (first.done !== true) yield first.value;
    yield* rows;
  }
  return { kind, rows: converted(all(), reinforcementRow, (row) => [taskOf(grader, row)], param) };
}

/** @throws ProblemError invalid_spec with the first faults of the whole file. */
async function* converted<Schema extends z.ZodType>(
  rows: AsyncIterable<unknown>,
  schema: Schema,
  convertRow: (row: z.infer<Schema>) => readonly unknown[],
  param: FileParam,
): AsyncGenerator<unknown, void, undefined> {
  const issues: Issue[] = [];
  let number = 0;
  for await (const foreign of rows) {
    number += 1;
    const deep = unstorableIssues(foreign, 1);
    const parsed = isTooDeep(deep) ? undefined : schema.safeParse(foreign);
    const faults = parsed === undefined ? deep : parsed.success ? [] : issuesOf(parsed.error);
    for (const { pointer, message } of faults)
      issues.push({
        pointer: '',
        message: `row ${number}${pointer === '' ? '' : `, ${pointer}`}: ${message}`,
      });
    if (issues.length >= namedFaults) break;
    if (issues.length === 0 && parsed?.success === true) yield* convertRow(parsed.data);
  }
  if (issues.length > 0) throw refused(param, issues.slice(0, namedFaults));
}

function refused(param: FileParam, issues: readonly Issue[]): ProblemError {
  const [first] = issues;
  const more = issues.length > 1 ? `, and ${issues.length - 1} more` : '';
  return new ProblemError('invalid_spec', `${param}: ${first?.message ?? 'not valid'}${more}`, {
    issues: issues.map(({ message }) => ({ pointer: `/${param}`, message })),
  });
}
