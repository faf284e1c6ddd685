// The example's rule against the rewards of a published environment, its files against their generator, its spec
// against the contract.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jobSpec } from '../../api/contract/spec.ts';
import { rowSchemas } from '../../api/contract/task.ts';
import { datasets } from '../../examples/digits/generate.ts';
import { answerOf, parsePrompt, promptOf } from '../../examples/digits/sequence.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';

const examples = resolve(import.meta.dirname, '../../examples');
const rowsOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('the rule', () => {
  it('continues 3, 5 modulo 9', () => {
    expect(answerOf({ first: 3, second: 5, modulus: 9, terms: 4 })).toBe('7,0,2,4');
  });

  it('gives residues when the sequence falls, and nothing for no term', () => {
    expect(answerOf({ first: 3, second: 1, modulus: 9, terms: 2 })).toBe('8,6');
    expect(answerOf({ first: 3, second: 1, modulus: 9, terms: 0 })).toBe('');
  });

  it('refuses what is not a prompt', () => {
    expect(() => parsePrompt('3,5:9')).toThrow('"3,5:9"');
  });

  it.skipIf(testDataDir === undefined)(
    `agrees with every row of the published rewards (skipped if ${noTestData})`,
    () => {
      const rows = rowsOf(readFileSync(testData('digit-completion/rewards.jsonl'), 'utf8')) as {
        prompt: string;
        truth: string;
      }[];
      expect(rows.length).toBe(295);
      for (const { prompt, truth } of rows) {
        expect(promptOf(parsePrompt(prompt))).toBe(prompt);
        expect({ prompt, answer: answerOf(parsePrompt(prompt)) }).toEqual({ prompt, answer: truth });
      }
    },
  );
});

describe('the files', () => {
  const generated = datasets();

  it.each(Object.keys(generated))('%s is what the generator writes', (name) => {
    expect(readFileSync(resolve(examples, 'digits', name), 'utf8')).toBe(generated[name]);
  });

  it('hold rows of their kind, and no prompt twice', () => {
    for (const row of rowsOf(generated['sft.jsonl'] ?? '')) rowSchemas.sft.parse(row);
    const train = rowsOf(generated['train.jsonl'] ?? '').map((row) => rowSchemas.math.parse(row).prompt);
    const test = rowsOf(generated['test.jsonl'] ?? '').map((row) => rowSchemas.math.parse(row).prompt);
    expect([train.length, test.length]).toEqual([600, 120]);
    expect(new Set([...train, ...test]).size).toBe(720);
  });

  it('make a spec that the contract takes', () => {
    const spec = jobSpec.parse(JSON.parse(readFileSync(resolve(examples, 'digits.json'), 'utf8')));
    expect(spec.type).toBe('cascade');
  });
});
