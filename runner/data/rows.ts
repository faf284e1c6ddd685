// JSONL in, typed rows out, in the file's order. Reads line by line: the text of a file is never held whole.
// Rows were validated when the dataset was registered; here the check proves that this is that file.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { DatasetKind, RowOf } from '../../api/contract/task.ts';
import { rowSchemas } from '../../api/contract/task.ts';
import { DataError } from './error.ts';

function parseJson(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new DataError(`${where}: not JSON: ${(cause as Error).message}`, { cause });
  }
}

async function* nonEmptyLines(file: string): AsyncGenerator<{ line: string; number: number }> {
  const stream = createReadStream(file, { encoding: 'utf8' });
  let number = 0;
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
      number++;
      if (line.trim() !== '') yield { line, number };
    }
  } catch (cause) {
    throw new DataError(`${file}: cannot be read: ${(cause as Error).message}`, { cause });
  } finally {
    stream.destroy();
  }
}

/** The rows of a dataset file, one after the other. Throws DataError with file and line for a row that does not fit its kind. */
export async function* eachRow<Kind extends DatasetKind>(
  file: string,
  kind: Kind,
): AsyncGenerator<RowOf<Kind>, void, undefined> {
  for await (const { line, number } of nonEmptyLines(file)) {
    const where = `${file}: line ${number}`;
    const parsed = rowSchemas[kind].safeParse(parseJson(line, where));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const at = issue === undefined ? '' : `/${issue.path.join('/')}: ${issue.message}`;
      throw new DataError(`${where}: not a ${kind} row: ${at}`);
    }
    yield parsed.data as RowOf<Kind>;
  }
}

/**
 * All rows of a dataset file; the index in the array is the row number used everywhere.
 * Throws DataError as `eachRow` does, and for a file without rows.
 */
export async function readRows<Kind extends DatasetKind>(file: string, kind: Kind): Promise<RowOf<Kind>[]> {
  const rows: RowOf<Kind>[] = [];
  for await (const row of eachRow(file, kind)) rows.push(row);
  if (rows.length === 0) throw new DataError(`${file}: holds no row: register a dataset with at least one`);
  return rows;
}
