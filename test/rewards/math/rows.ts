// Golds of the shared math sets, each with what the set gives beside it.
import { readFileSync } from 'node:fs';
import { testData } from '../../support/test-data.ts';

export interface GoldRow {
  readonly gold: string;
  /** A text that states the gold in the set's own way. */
  readonly solution?: string;
}

export const jsonl = <Row>(path: string): Row[] =>
  readFileSync(testData(path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);

/** A number as its file spells it ("27.0"), which JSON.parse would change. */
const spelled = (path: string, field: string): GoldRow[] =>
  readFileSync(testData(path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({ gold: new RegExp(`"${field}": ?"?(-?[0-9.]+)`).exec(line)![1]! }));

const gsm8k = (path: string): GoldRow[] =>
  jsonl<{ answer: string }>(path).map(({ answer: solution }) => ({
    gold: solution.slice(solution.lastIndexOf('####') + 4).trim(),
    solution,
  }));

export const math500 = (): GoldRow[] =>
  jsonl<{ answer: string; solution: string }>('math/math500.jsonl').map(({ answer, solution }) => ({
    gold: answer,
    solution,
  }));
export const svamp = (): GoldRow[] => spelled('math/svamp.jsonl', 'Answer');
export const aime = (): GoldRow[] => spelled('aime/aime24.jsonl', 'answer');
export const amc = (): GoldRow[] => spelled('aime/amc23.jsonl', 'answer');
export const allGsm8k = (): GoldRow[] => [...gsm8k('gsm8k/test.jsonl'), ...gsm8k('gsm8k/train.jsonl')];
