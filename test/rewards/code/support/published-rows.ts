// Rows of the published code suites, mapped as a dataset of ours maps them.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { FieldMapping } from '../../../../api/contract/dataset.ts';
import { mapRow } from '../../../../api/contract/mapping.ts';
import type { CodeRow } from '../../../../api/contract/task.ts';
import { testData } from '../../../support/test-data.ts';

export interface PublishedRow {
  readonly name: string;
  readonly row: CodeRow;
}

function rowsOf(text: string, fields: FieldMapping): PublishedRow[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const columns = JSON.parse(line) as Readonly<Record<string, unknown>>;
      const mapped = mapRow(columns, { kind: 'code', fields, answerFormat: 'plain' });
      if ('faults' in mapped)
        throw new Error(`${String(columns['task_id'])}: ${JSON.stringify(mapped.faults)}`);
      return { name: String(columns['task_id']), row: mapped.row as CodeRow };
    });
}

export const humanEvalRows = (): PublishedRow[] =>
  rowsOf(gunzipSync(readFileSync(testData('code/HumanEval.jsonl.gz'))).toString(), {
    tests: 'test',
    solution: 'canonical_solution',
  });

export const mbppRows = (): PublishedRow[] =>
  rowsOf(readFileSync(testData('code/mbpp.jsonl'), 'utf8'), {
    prompt: 'text',
    tests: 'test_list',
    setup: 'test_setup_code',
    solution: 'code',
  });

export const humanEvalJsRows = (): PublishedRow[] =>
  rowsOf(readFileSync(testData('code/humaneval-js.jsonl'), 'utf8'), { tests: 'tests' });
