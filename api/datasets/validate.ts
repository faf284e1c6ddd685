// Reads an upload into canonical JSONL (our fields only, in the schema's order) and the report on it. Broken rows
// are named, up to 100; what counts for equality of two uploads is the hash of all rows, broken ones included.
import { createHash } from 'node:crypto';
import type { RowIssue, ValidationReport } from '../contract/dataset.ts';
import type { RowMapping } from '../contract/mapping.ts';
import { mapRow } from '../contract/mapping.ts';
import { isTooDeep, unstorableIssues } from '../json.ts';
import { ProblemError } from '../problem.ts';
import type { ScratchFile } from './scratch.ts';

const maxIssues = 100;

export interface Validated {
  readonly size: number;
  readonly sha256: string;
  readonly report: ValidationReport;
}

/** @throws ProblemError invalid_dataset where there is no row. */
export async function validateRows(
  rows: AsyncIterable<unknown>,
  mapping: RowMapping,
  out: ScratchFile,
): Promise<Validated> {
  const issues: RowIssue[] = [];
  let count = 0;
  let broken = 0;
  const brokenHash = createHash('sha256');
  for await (const foreign of rows) {
    const row = count;
    count += 1;
    const result = checkRow(foreign, mapping);
    if ('row' in result) {
      await out.write(`${JSON.stringify(result.row)}\n`);
      continue;
    }
    broken += 1;
    brokenHash.update(`${row} ${JSON.stringify(result.faults)}\n`);
    for (const fault of result.faults) if (issues.length < maxIssues) issues.push({ row, ...fault });
  }
  if (count === 0)
    throw new ProblemError(
      'invalid_dataset',
      'the body has no rows: send JSONL, one row a line, or a JSON array of rows',
    );
  const { size, sha256 } = await out.close();
  const report = { rows: count, broken, issues };
  return {
    size,
    sha256:
      broken === 0 ? sha256 : createHash('sha256').update(sha256).update(brokenHash.digest()).digest('hex'),
    report,
  };
}

function checkRow(foreign: unknown, mapping: RowMapping): ReturnType<typeof mapRow> {
  const unstorable = unstorableIssues(foreign, 5);
  if (isTooDeep(unstorable)) return { faults: unstorable };
  const mapped = mapRow(foreign, mapping);
  if ('faults' in mapped) return mapped;
  // Only what is kept must be storable: a foreign column that is dropped may hold anything.
  const kept = unstorable.length === 0 ? [] : unstorableIssues(mapped.row, 5);
  return kept.length === 0 ? mapped : { faults: kept };
}
