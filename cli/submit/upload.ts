// Uploads the files that a spec refers to. A dataset's name holds the file's hash, so the same file is uploaded to one
// dataset however often it is submitted, and a changed file never changes a dataset that a job has used.
import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import type { Client } from '../../api/client.ts';
import { ApiError } from '../../api/client.ts';
import type { Dataset } from '../../api/contract/dataset.ts';
import { rowSchemas } from '../../api/contract/task.ts';
import type { DatasetKind } from '../../api/contract/task.ts';
import { UserError } from '../user-error.ts';
import type { LocalData } from './spec-file.ts';

const shownIssues = 10;

/** JSON pointer to the name of the dataset that stands for the file there. @throws UserError for broken rows. */
export async function uploadData(
  client: Client,
  data: readonly LocalData[],
  say: (text: string) => void,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const done = new Map<string, string>();
  for (const { file, kinds, pointer, grader } of data) {
    const kind = await kindOf(file, kinds);
    const name = await datasetName(file, kind);
    if (!done.has(name)) {
      const query = { name, kind, ...(grader && { grader: JSON.stringify(grader) }) };
      const dataset = await client.createDataset(query, await openAsBlob(file)).catch((error) => {
        throw aboutFile(error, file);
      });
      if (dataset.state === 'invalid') throw new UserError(brokenRows(file, dataset));
      say(`dataset ${name}: ${dataset.rows} rows of ${file}`);
      if (dataset.state === 'validating') say(waiting(dataset));
      done.set(name, dataset.id);
    }
    ids.set(pointer, done.get(name)!);
  }
  return ids;
}

/** The first that takes the first row: of rows that are only answered, as in distillation, the spec does not say which it is. */
async function kindOf(file: string, kinds: LocalData['kinds']): Promise<DatasetKind> {
  if (kinds.length === 1) return kinds[0];
  const row = await firstRow(file);
  return kinds.find((kind) => rowSchemas[kind].safeParse(row).success) ?? kinds[0];
}

/** Undefined where the file is no JSONL: what it is then the service says. */
async function firstRow(file: string): Promise<unknown> {
  const input = createReadStream(file);
  try {
    for await (const line of createInterface({ input })) return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  } finally {
    input.destroy();
  }
  return undefined;
}

/** What the service says of "the body" is about the file. */
function aboutFile(error: unknown, file: string): unknown {
  const isFile = error instanceof ApiError && ['invalid_dataset', 'too_large'].includes(error.code);
  return isFile ? new UserError(`${file}: ${error.detail}`, { cause: error }) : error;
}

/** `<file>-<kind>-<first 12 digits of SHA-256>`. */
export async function datasetName(file: string, kind: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  const stem = basename(file)
    .replace(/\.(jsonl|json)(\.gz)?$/i, '')
    .replace(/[^a-z0-9._-]+/gi, '-')
    .replace(/^[^a-z0-9]+/i, '')
    .slice(0, 40);
  return `${stem === '' ? 'data' : stem}-${kind}-${hash.digest('hex').slice(0, 12)}`;
}

const waiting = ({ name, message }: Dataset): string =>
  `dataset ${name}: a runner proves its gold first, the job waits for that${message === null ? '' : `; ${message}`}`;

function brokenRows(file: string, { report, kind }: Dataset): string {
  const rows = report.issues
    .slice(0, shownIssues)
    .map(({ row, pointer, message }) => `\n  row ${row}${pointer === '' ? '' : `, ${pointer}`}: ${message}`);
  const more = report.issues.length > rows.length ? '\n  …' : '';
  return `${file}: ${report.broken} of ${report.rows} rows (counted from 0) are not ${kind} rows:${rows.join('')}${more}`;
}
