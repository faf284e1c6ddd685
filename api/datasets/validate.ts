// Reads an upload into canonical JSONL (our fields only, in the schema's order) and the report on it. Broken rows
// are named, up to 100; what counts for equality of two uploads is the hash of all rows, broken ones included.
import { createHash } from 'node:crypto';
import type { RowIssue, ValidationReport } from '../contract/dataset.ts';
import { namedIssues } from '../contract/dataset.ts';
import type { Grader } from '../contract/grader.ts';
import type { RowMapping } from '../contract/mapping.ts';
import { mapRow } from '../contract/mapping.ts';
import { isWorthNothing, proofOf } from '../contract/proof.ts';
import { isTooDeep, unstorableIssues } from '../json.ts';
import { ProblemError } from '../problem.ts';
import { createDuplicates, promptOf } from './duplicates.ts';
import type { ScratchFile } from './scratch.ts';

export interface Validated {
  readonly size: number;
  readonly sha256: string;
  readonly report: ValidationReport;
}

/**
 * `grader`: what will prove the gold, if anything does. What it proves by definition is reported here, the rest by a runner.
 * @throws ProblemError invalid_dataset where there is no row.
 */
export async function validateRows(
  rows: AsyncIterable<unknown>,
  mapping: RowMapping,
  grader: Grader | undefined,
  out: ScratchFile,
): Promise<Validated> {
  const issues: RowIssue[] = [];
  let count = 0;
  let broken = 0;
  let partial = 0;
  const proof = proofOf(grader);
  const zero = { count: 0, rows: [] as number[] };
  const duplicates = createDuplicates();
  const brokenHash = createHash('sha256');
  for await (const foreign of rows) {
    const row = count;
    count += 1;
    const result = checkRow(foreign, mapping);
    if ('row' in result) {
      await out.write(`${JSON.stringify(result.row)}\n`);
      duplicates.add(row, promptOf(result.row));
      if ('patch' in result.row && result.row.files === undefined) partial += 1;
      if (proof === 'definition' && isWorthNothing(grader!, result.row)) {
        zero.count += 1;
        if (zero.rows.length < namedIssues) zero.rows.push(row);
      }
      continue;
    }
    broken += 1;
    brokenHash.update(`${row} ${JSON.stringify(result.faults)}\n`);
    for (const fault of result.faults) if (issues.length < namedIssues) issues.push({ row, ...fault });
  }
  if (count === 0)
    throw new ProblemError(
      'invalid_dataset',
      'the body has no rows: send JSONL, one row a line, or a JSON array of rows',
    );
  const { size, sha256 } = await out.close();
  const report = {
    rows: count,
    broken,
    issues,
    unproven: proof === 'none' ? count - broken : 0,
    zero_maximum: zero,
    duplicates: duplicates.report(),
    partial,
  };
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
