// The math grader: which part of a response is its answer, and which answers are equal.
// Tables hold both polarities: a verifier that is too kind is worse than none.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mathReward } from '../../runner/rewards/math.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';

const valueOf = (gold: string, response: string): number => {
  const reward = mathReward(gold, response);
  return reward.status === 'scored' ? reward.value : 0;
};

describe('equal answers', () => {
  it.each([
    ['18', '18'],
    ['18', '18.0'],
    ['18', '$18.00'],
    ['1000', '1,000'],
    ['1000', '1{,}000'],
    ['1000', '1,\\!000'],
    ['1000', '1 000'],
    ['0.5', '\\frac12'],
    ['\\frac{1}{2}', '1/2'],
    ['\\dfrac{9}{7}', '\\frac{9}{7}'],
    ['3/2', '1\\frac{1}{2}'],
    ['1/3', '0.\\overline{3}'],
    ['-10/9', '-\\frac{10}{9}'],
    ['28\\%', '28 percent'],
    ['28\\%', '0.28'],
    ['28', '28\\%'],
    ['10', '(9+1)'],
    ['1024', '2^{10}'],
    ['x=5', '5'],
    ['5', 'x = 5'],
    ['(3,2)', '(p,q) = (3, 2)'],
    ['90^\\circ', '90 degrees'],
    ['15\\mbox{ cm}^2', '15'],
    ['15\\mbox{ cm}^2', '15\\text{ cm}^2'],
    ['\\text{C}', '(C)'],
    ['\\text{Even}', 'even'],
    ['[0,1)', '\\left[0,1\\right)'],
    ['1,-2', '-2 and 1'],
    ['\\sqrt{3}', '\\sqrt3'],
    ['x \\leq 2', 'x <= 2'],
  ])('%j = %j', (gold, given) => {
    expect(valueOf(gold, `\\boxed{${given}}`)).toBe(1);
  });
});

describe('answers that differ', () => {
  it.each([
    ['18', '19'],
    ['18', '-18'],
    ['0.3333', '1/3'],
    ['12', '1 2'],
    ['100', '0,100'],
    ['100', '(0,100)'],
    ['0.5', '0.5\\%'],
    ['4', '4\\sqrt{2}'],
    ['2', '2x'],
    ['2', '2xy'],
    ['5', 'x+5'],
    ['x=5', 'y=5'],
    ['5\\text{ cm}', '5\\text{ km}'],
    ['(0,9)', '[0,9)'],
    ['(1,2)', '(2,1)'],
    ['1331,1728', '1728'],
    ['1,2,3', '1,2,3,4'],
    ['\\pm 2021', '2021'],
    ['x', 'X'],
    ['f(x)', 'f(y)'],
    ['1-\\frac{1}{e}', '1+\\frac{1}{e}'],
    ['\\frac{1}{2004!}', '\\frac{1}{2006!}'],
    ['x \\geq 5', 'x \\leq 5'],
    ['a+3z=0', '0'],
    ['12:00', '1:00'],
    ['1', '\\frac{1}{0}'],
  ])('%j != %j', (gold, given) => {
    expect(valueOf(gold, `\\boxed{${given}}`)).toBe(0);
  });
});

describe('which part is the answer', () => {
  it.each([
    ['the last box counts', '7', 'First \\boxed{5}, no: \\boxed{7}.', 1],
    ['an earlier box does not', '5', 'First \\boxed{5}, no: \\boxed{7}.', 0],
    ['a box that never closes is no box', '5', 'So \\boxed{5} and then \\boxed{7', 1],
    ['nested braces', '\\frac{1}{2}', 'So \\boxed{\\frac{1}{2}}.', 1],
    ['a box outranks a statement', '7', 'The answer is 5. \\boxed{7}', 1],
    ['after ####', '18', 'He has 3 + 15 = 18.\n#### 18', 1],
    ['a statement', '18', 'So the answer is 18.', 1],
    ['a statement with things', '18', 'The answer is 18 apples per day.', 1],
    [
      'a statement with a formula',
      '\\frac{1}{2}',
      'The final answer is $\\frac{1}{2}$. I hope it is correct.',
      1,
    ],
    ['bold', '73', '**Answer:** **73**', 1],
    ['a comparison is not a number', '18', 'The answer is 18 more than before.', 0],
    ['the last formula', '9', 'Answer \\[ 9 \\]', 1],
    ['the last number', '18', 'She makes 9 * 2 = 18 dollars.', 1],
    ['a number behind the last formula', '8', 'Since $x=3$ we have 5, so 8.', 1],
    ['not a number inside an equation', '1', '2x + z = 1', 0],
    ['not one of a list', '7', 'It can be 3, 5, 7', 0],
    ['not a number out of a word', '2', 'AZYUK2A', 0],
    ['only what follows the thinking', '7', '<think>\\boxed{5}</think> The answer is 7.', 1],
    ['nothing of the thinking', '5', '<think>\\boxed{5}</think> I do not know.', 0],
  ])('%s', (_, gold, response, value) => {
    expect(valueOf(gold, response)).toBe(value);
  });

  it.each(['', '   ', 'I do not know.', '<think>it is 5, \\boxed{5}'])(
    'no answer in %j is invalid, not wrong',
    (response) => {
      expect(mathReward('5', response)).toEqual({ status: 'invalid', code: 'no_answer', value: 0 });
    },
  );
});

describe('hostile answers', () => {
  it.each([
    '9^{9^{9^{9}}}',
    '('.repeat(5000),
    '\\frac{'.repeat(5000),
    '1'.repeat(100_000),
    '-'.repeat(900) + '1',
    '\\boxed{'.repeat(5000),
    '$ '.repeat(10_000),
    '1,'.repeat(10_000),
    'answer '.repeat(5000),
    `${'1 '.repeat(9_000)}x`,
    '= 1 '.repeat(5_000),
  ])('is answered quickly (case %#)', (response) => {
    const start = performance.now();
    expect(valueOf('1', response)).toBe(0);
    expect(valueOf('1', `\\boxed{${response}}`)).toBe(0);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

interface Case {
  readonly gold: string;
  readonly pred: string;
  readonly expected?: number;
  readonly result?: number;
}

const jsonl = <Row>(path: string): Row[] =>
  readFileSync(testData(path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);

describe.skipIf(testDataDir === undefined)(`real data (${noTestData} otherwise)`, () => {
  it('Math-Verify cases: no false positive, at least 94 of 134 right', () => {
    const cases = jsonl<Case>('math-verify/cases.jsonl');
    const verdicts = cases.map((entry) => ({
      given: valueOf(entry.gold, entry.pred),
      wanted: entry.expected ?? entry.result,
    }));
    expect(cases).toHaveLength(134);
    expect(verdicts.filter(({ given, wanted }) => given === 1 && wanted === 0)).toEqual([]);
    expect(verdicts.filter(({ given, wanted }) => given === wanted).length).toBeGreaterThanOrEqual(94);
  });

  it('GSM8K: every gold reaches the maximum, bare, boxed, stated and with its own solution', () => {
    const rows = [
      ...jsonl<{ answer: string }>('gsm8k/test.jsonl'),
      ...jsonl<{ answer: string }>('gsm8k/train.jsonl'),
    ];
    expect(rows).toHaveLength(8792);
    for (const { answer: solution } of rows) {
      const gold = solution.slice(solution.lastIndexOf('####') + 4).trim();
      for (const response of [
        gold,
        solution,
        `So \\boxed{${gold}}.`,
        `The answer is ${gold}.`,
        `1 + 1 = ${gold}.`,
      ]) {
        if (valueOf(gold, response) !== 1)
          throw new Error(`gold ${gold} misses its maximum in ${JSON.stringify(response)}`);
      }
    }
  });

  it('MATH-500: every gold reaches the maximum, and no gold equals a different one', () => {
    const rows = jsonl<{ answer: string; solution: string }>('math/math500.jsonl');
    const missed = rows.filter(
      ({ answer, solution }) =>
        ![answer, `\\boxed{${answer}}`, solution].every((response) => valueOf(answer, response) === 1),
    );
    expect(missed).toEqual([]);
    const golds = [...new Set(rows.map(({ answer }) => answer))];
    const equal = golds.flatMap((gold, at) =>
      golds
        .slice(0, at)
        .filter((other) => valueOf(gold, `\\boxed{${other}}`) === 1)
        .map((other) => `${other} ~ ${gold}`),
    );
    // Pairs that say the same: spelling, order of solutions, or a unit left out.
    expect(equal.sort()).toEqual(
      [
        '10,\\!080 ~ 10080',
        '1,-2 ~ -2,1',
        '120^\\circ ~ 120',
        '15 ~ 15\\mbox{ cm}^2',
        '2 \\sqrt{5} ~ 2\\sqrt{5}',
        '30^\\circ ~ 30',
        '36 ~ 36^\\circ',
        '36^\\circ ~ \\$36',
        '36 ~ \\$36',
        '5 ~ x=5',
        '90^\\circ ~ 90',
        '\\frac{1}{4} ~ \\frac14',
      ].sort(),
    );
  });
});
