// From an upload to a registered dataset: the rows go through a scratch file to the store first, then the row that
// names them, so that a dataset that exists can be read. An upload that adds nothing leaves nothing.
import type { Database } from '../../db/connect.ts';
import { deleteInvalidDataset, findDatasets, insertDataset } from '../../db/datasets.ts';
import type { Answer } from '../../db/idempotency.ts';
import { newId } from '../../db/ids.ts';
import type { DatasetRow } from '../../db/schema.ts';
import { insertErrand } from '../../db/errands/insert.ts';
import type { Services } from '../context.ts';
import type { ValidationReport } from '../contract/dataset.ts';
import type { Grader } from '../contract/grader.ts';
import type { RowMapping } from '../contract/mapping.ts';
import { proofOf } from '../contract/proof.ts';
import type { DatasetKind } from '../contract/task.ts';
import { answerOnce } from '../idempotency.ts';
import { bodyChunks } from '../middleware/body.ts';
import { ProblemError } from '../problem.ts';
import { datasetView } from '../views.ts';
import { readRows } from './rows.ts';
import type { ScratchFile } from './scratch.ts';
import { openScratch } from './scratch.ts';
import { unpack } from './unpack.ts';
import type { Validated } from './validate.ts';
import { validateRows } from './validate.ts';

export interface Upload {
  readonly projectId: string;
  readonly name: string;
  readonly mapping: RowMapping;
  /** What proves the gold; undefined where nothing can. */
  readonly grader: Grader | undefined;
  readonly idempotencyKey: string | undefined;
}

/** 201 with a new dataset, 200 with the one that has this name and content already. @throws ProblemError conflict and others. */
export async function registerDataset(services: Services, upload: Upload, request: Request): Promise<Answer> {
  const coding = request.headers.get('content-encoding') ?? undefined;
  const body = unpack(bodyChunks(request), coding, services.limits);
  return registerRows(services, upload, readRows(body, services.limits));
}

/** The same, for rows from wherever they come. */
export async function registerRows(
  services: Services,
  upload: Upload,
  rows: AsyncIterable<unknown>,
): Promise<Answer> {
  const scratch = await openScratch();
  try {
    const validated = await validateRows(rows, upload.mapping, upload.grader, scratch);
    return await keep(services, upload, validated, scratch);
  } finally {
    await scratch.remove();
  }
}

async function keep(
  { db, store }: Services,
  upload: Upload,
  validated: Validated,
  scratch: ScratchFile,
): Promise<Answer> {
  const id = newId('ds');
  const key = `datasets/${id}/rows.jsonl`;
  const { projectId, name, mapping, grader, idempotencyKey } = upload;
  const isNew = canTakeName(await named(db, projectId, name));
  if (isNew && validated.report.broken === 0)
    await store.put(key, { path: scratch.path }, { sha256: validated.sha256 });
  // Best effort: what stays behind after a failure here is an object that nothing names.
  const forget = () => store.delete(key).catch(() => undefined);
  const request = ['POST /v1/datasets', name, JSON.stringify({ ...mapping, grader }), validated.sha256];
  try {
    const answer = await answerOnce(db, { projectId, key: idempotencyKey, request }, (tx) =>
      insertOnce(tx, upload, validated, isNew ? { id, key } : undefined),
    );
    if ((answer.body as { id: string }).id !== id) await forget();
    return answer;
  } catch (error) {
    // Only a refusal of ours is known to have left no row: a connection that broke may have committed first.
    if (error instanceof ProblemError) await forget();
    throw error;
  }
}

async function insertOnce(
  tx: Database,
  upload: Upload,
  validated: Validated,
  fresh: { id: string; key: string } | undefined,
): Promise<Answer> {
  const { projectId, name, mapping, grader } = upload;
  const isBroken = validated.report.broken > 0;
  const former = await named(tx, projectId, name);
  const isSame = former?.sha256 === validated.sha256 && former.kind === mapping.kind;
  // Rows that were refused for their gold are proven again: by another grader, or by one that was mended.
  if (isSame && (isBroken || former.state !== 'invalid')) return { status: 200, body: datasetView(former) };
  if (!canTakeName(former) || fresh === undefined) throw nameTaken(name);
  if (former !== undefined) await deleteInvalidDataset(tx, projectId, former.id);
  const { size, sha256, report } = validated;
  const isProvenLater = !isBroken && proofOf(grader) === 'errand';
  const row = await insertDataset(tx, {
    ...fresh,
    projectId,
    name,
    kind: mapping.kind,
    state: isBroken ? 'invalid' : isProvenLater ? 'validating' : 'ready',
    rows: report.rows,
    size,
    sha256,
    grader: grader ?? null,
    report,
    message: isBroken ? brokenRows(mapping.kind, report) : null,
  });
  if (row !== undefined) {
    const dataset = { ...fresh, kind: mapping.kind, size, sha256 };
    if (isProvenLater) await insertErrand(tx, projectId, { kind: 'validate', grader: grader!, dataset });
    return { status: 201, body: datasetView(row) };
  }
  // Another upload of the name was faster; it has committed, or the insert would have waited.
  const faster = await named(tx, projectId, name);
  if (faster?.sha256 !== sha256 || faster.kind !== mapping.kind) throw nameTaken(name);
  return { status: 200, body: datasetView(faster) };
}

async function named(db: Database, projectId: string, name: string): Promise<DatasetRow | undefined> {
  return (await findDatasets(db, projectId, [name])).find((row) => row.name === name);
}

function brokenRows(kind: DatasetKind, { broken, rows, issues }: ValidationReport): string {
  const [first] = issues;
  const example = first === undefined ? '' : `; row ${first.row}, ${first.pointer}: ${first.message}`;
  return `${broken} of ${rows} rows are not ${kind} rows${example}`;
}

const canTakeName = (former: DatasetRow | undefined): boolean =>
  former === undefined || former.state === 'invalid';

const nameTaken = (name: string): ProblemError =>
  new ProblemError(
    'conflict',
    `a dataset named ${JSON.stringify(name)} with other rows exists: choose another name`,
  );
