// The matcher against Python's difflib: the shared goldens, and cases computed with CPython 3.11 where its rules are odd.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { matchingBlocks, ratio } from '../../../runner/rewards/swe/sequence-matcher.ts';
import { TooMuchWork, WorkBudget } from '../../../runner/rewards/swe/work.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

const options = (autojunk: boolean, steps = 1e9) => ({ autojunk, work: new WorkBudget(steps) });
const blocks = (a: string, b: string, autojunk = false) =>
  matchingBlocks(Array.from(a), Array.from(b), options(autojunk)).map(({ a: i, b: j, size }) => [i, j, size]);

describe('matching blocks', () => {
  it.each([
    // The longest first, so 'bcd' splits the rest; not the longest common subsequence.
    [
      'abxcd',
      'abcd',
      [
        [0, 0, 2],
        [3, 2, 2],
      ],
    ],
    [
      'qabxcd',
      'abycdf',
      [
        [1, 0, 2],
        [4, 3, 2],
      ],
    ],
    // Of equally long matches the first in a, then the first in b.
    [
      'aXbYa',
      'baba',
      [
        [0, 1, 1],
        [2, 2, 1],
        [4, 3, 1],
      ],
    ],
    [
      'abab',
      'abXab',
      [
        [0, 0, 2],
        [2, 3, 2],
      ],
    ],
    ['', 'abc', []],
    ['abc', 'xyz', []],
    // One character beyond the BMP is one element.
    ['x𝒳y', '𝒳y', [[1, 0, 2]]],
  ])('%j and %j', (a, b, expected) => {
    expect(blocks(a, b)).toEqual(expected);
  });
});

describe('ratio', () => {
  it.each([
    ['', '', 1],
    ['', 'a', 0],
    ['tide', 'diet', 0.25],
    ['diet', 'tide', 0.5],
    ['abcd', 'bcde', 0.75],
  ])('%j against %j is %d: the order of the two matters', (a, b, expected) => {
    expect(ratio(a, b, options(false))).toBe(expected);
  });

  it('autojunk: from 200 elements of b on, frequent ones start no match but lengthen one', () => {
    const spaces = ' '.repeat(199);
    expect(ratio(spaces, spaces, options(true))).toBe(1);
    expect(ratio(`x${spaces} `, ` ${spaces}`, options(false))).toBeCloseTo(400 / 401, 12);
    // difflib.SequenceMatcher(None, 'x' + ' '*200, 'y' + ' '*200).ratio() is 0; with one rare common element it grows over
    // the frequent ones beside it.
    expect(ratio(`x${spaces} `, `y${spaces} `, options(true))).toBe(0);
    expect(ratio(`xz${spaces} `, `yz${spaces} `, options(true))).toBeCloseTo((2 * 201) / 404, 12);
  });

  it('stops at its budget', () => {
    expect(() => ratio('a'.repeat(1000), 'a'.repeat(1000), options(false, 10_000))).toThrow(TooMuchWork);
  });

  it.skipIf(testDataDir === undefined)(`agrees with difflib on the shared goldens [${noTestData}]`, () => {
    const goldens = readFileSync(testData('swe/sequence_matcher.jsonl'), 'utf8').trim().split('\n');
    expect(goldens.length).toBeGreaterThan(50);
    for (const line of goldens) {
      const golden = JSON.parse(line) as { a: string; b: string; autojunk: boolean; ratio: number };
      expect(ratio(golden.a, golden.b, options(golden.autojunk))).toBeCloseTo(golden.ratio, 9);
    }
  });
});
