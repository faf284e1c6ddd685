// Which part of a response is its answer, and that finding it costs no time whatever the response holds.
import { beforeAll, describe, expect, it } from 'vitest';
import { rewardOf, valueOf } from './verify.ts';

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
  ])('%s', async (_, gold, response, value) => {
    expect(await valueOf(gold, response)).toBe(value);
  });

  it.each(['', '   ', 'I do not know.', '<think>it is 5, \\boxed{5}'])(
    'no answer in %j is invalid, not wrong',
    async (response) => {
      expect(await rewardOf('5', response)).toMatchObject({ status: 'invalid', code: 'no_answer', value: 0 });
    },
  );
});

describe('hostile answers', () => {
  // So that the start of a thread is on no answer's clock.
  beforeAll(async () => expect(await valueOf('2\\sqrt{2}', '\\sqrt{8}')).toBe(1));
  it.each([
    '('.repeat(5000),
    '\\frac{'.repeat(5000),
    '1'.repeat(100_000),
    '-'.repeat(901) + '1',
    '\\boxed{'.repeat(5000),
    '$ '.repeat(10_000),
    '1,'.repeat(10_000),
    'answer '.repeat(5000),
    `${'1 '.repeat(9_000)}x`,
    '= 1 '.repeat(5_000),
  ])('is answered quickly (case %#)', async (response) => {
    const start = performance.now();
    expect(await valueOf('1', response)).toBe(0);
    expect(await valueOf('1', `\\boxed{${response}}`)).toBe(0);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
