// Files as their authors publish them are registered by naming columns alone: no script rewrites them first.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { datasetQuery } from '../../api/contract/dataset.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';
import { useApi } from './support.ts';

const api = useApi();

const better = { by: 'label', cases: { 1: 'output_1', 2: 'output_2' } };
const worse = { by: 'label', cases: { 1: 'output_2', 2: 'output_1' } };
const pair = { prompt: 'input', chosen: better, rejected: worse };
const humanEval = { tests: 'test', solution: 'canonical_solution' };
const mbpp = { prompt: 'text', tests: 'test_list', setup: 'test_setup_code', solution: 'code' };

type Published = readonly [
  file: string,
  rows: number,
  query: Omit<z.input<typeof datasetQuery>, 'name' | 'fields'>,
  fields: object,
];

const published: readonly Published[] = [
  ['gsm8k/test.jsonl', 1319, { kind: 'math', answer_format: 'gsm8k' }, { prompt: 'question' }],
  ['gsm8k/train.jsonl', 7473, { kind: 'math', answer_format: 'gsm8k' }, { prompt: 'question' }],
  ['math/math500.jsonl', 500, { kind: 'math' }, { prompt: 'problem' }],
  ['aime/aime24.jsonl', 30, { kind: 'math' }, { prompt: 'problem' }],
  ['aime/amc23.jsonl', 40, { kind: 'math' }, { prompt: 'problem' }],
  ['code/HumanEval.jsonl.gz', 164, { kind: 'code' }, humanEval],
  ['code/mbpp.jsonl', 974, { kind: 'code' }, mbpp],
  ['code/humaneval-js.jsonl', 161, { kind: 'code' }, {}],
  ['ifeval/input_data.jsonl', 540, { kind: 'instruction' }, {}],
  ['ifbench/IFBench_test.jsonl', 300, { kind: 'instruction' }, {}],
  ['preference/llmbar-natural.json', 100, { kind: 'preference' }, pair],
  ['preference/llmbar-gptinst.json', 92, { kind: 'preference' }, pair],
  ['preference/llmbar-neighbor.json', 134, { kind: 'preference' }, pair],
  ['swe/swe-bench-lite-test.json', 5, { kind: 'swe' }, { prompt: 'problem_statement' }],
  ['swe/debug_20240322.json', 5, { kind: 'swe' }, { prompt: 'problem_statement' }],
];

describe.skipIf(testDataDir === undefined)(
  `published files${testDataDir === undefined ? ` (${noTestData})` : ''}`,
  () => {
    test.each(published)('%s: all %i rows', async (file, rows, query, fields) => {
      const body = await api
        .client()
        .createDataset(
          { name: file.replaceAll('/', '-'), ...query, fields: JSON.stringify(fields) },
          new Uint8Array(readFileSync(testData(file))),
        );
      expect(body.report).toMatchObject({
        rows,
        broken: 0,
        issues: [],
        partial: query.kind === 'swe' ? rows : 0,
      });
      expect(body.rows).toBe(rows);
    });

    test('a preference row holds the output that its label prefers as chosen', async () => {
      const [first] = JSON.parse(readFileSync(testData('preference/llmbar-natural.json'), 'utf8')) as Record<
        string,
        unknown
      >[];
      const row = { ...first, label: 2 };
      const dataset = await api
        .client()
        .createDataset(
          { name: 'one-pair', kind: 'preference', fields: JSON.stringify(pair) },
          JSON.stringify(row),
        );
      expect(dataset.state).toBe('ready');
      const stored = await text(await api.store.get(`datasets/${dataset.id}/rows.jsonl`));
      expect([JSON.parse(stored)]).toEqual([
        { prompt: first!['input'], chosen: first!['output_2'], rejected: first!['output_1'] },
      ]);
    });
  },
);
