// The labelled pairs of Math-Verify's tests. No pair that is labelled different may pass; those that are labelled equal
// and do not pass are listed with the reason, and the list is exact.
import { describe, expect, it } from 'vitest';
import { noTestData, testDataDir } from '../../support/test-data.ts';
import { jsonl } from './rows.ts';
import { valueOf } from './verify.ts';

interface Case {
  readonly gold: string;
  readonly pred: string;
  readonly expected?: number;
  readonly result?: number;
}

/** By gold and the end of the response. */
const disagreements: readonly (readonly [gold: string, given: string, reason: string])[] = [
  ['1,22', '1.22', 'a comma is never a decimal point here: in English text 1,22 is two numbers'],
  ['$(1,3)$', '${1,3}$', 'a pair and a set differ: order counts in one only'],
  [
    '$\\begin{pmatrix}1 & 0 \\\\ 0 & 1\\end{pmatrix}$',
    'matrix}1 & 0 \\\\ 0 & 1\\end{pmatrix}$',
    'a product of matrices is not computed',
  ],
  [
    '$10455$',
    'The final answer is $10,455$. I hope it is correct.',
    'the last \\boxed{} (255) outranks the statement behind it; the original ranks the statement first',
  ],
  [
    '$\\\\boxed{35 cm} ++++++ \\\\boxed{4}$',
    '${35 cm,4}$',
    'boxes with plus signs between them are not one answer: the last counts',
  ],
  [
    '$1\\leq|z|\\leq \\frac{3}{2}$',
    '\\cup \\left[1, \\frac{3}{2}\\right]$',
    'equal only for a real z, and the question may be about complex ones',
  ],
];

describe.skipIf(testDataDir === undefined)(`labelled pairs (${noTestData} otherwise)`, () => {
  it('agrees with the labels but for the listed pairs, and accepts none that is labelled different', async () => {
    const cases = jsonl<Case>('math-verify/cases.jsonl');
    expect(cases).toHaveLength(134);
    const differing: Case[] = [];
    for (const entry of cases)
      if ((await valueOf(entry.gold, entry.pred)) !== (entry.expected ?? entry.result)) differing.push(entry);
    expect(differing.filter(({ expected, result }) => (expected ?? result) === 0)).toEqual([]);
    const listed = ({ gold, pred }: Case): boolean =>
      disagreements.some(([of, end]) => of === gold && pred.endsWith(end));
    expect(differing.filter((entry) => !listed(entry))).toEqual([]);
    expect(differing).toHaveLength(disagreements.length);
  });
});
