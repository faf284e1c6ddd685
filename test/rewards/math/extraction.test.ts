// Which part of a response is its answer, and that finding it costs no time whatever the response holds.
import { beforeAll, describe, expect, it } from 'vitest';
import { rewardOf, valueOf } from './verify.ts';

const raw = String.raw;

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
    ['not a number that is denied', '5', 'So x is not 5', 0],
    ['not a number that is excluded', '5', 'We find x ≠ 5', 0],
    ['not a bound', '5', 'The result is more than 5', 0],
    ['not one of two numbers', '5', 'It is either 6 or 5', 0],
    ['not the last of alternatives', '5', 'So it is $3$, $4$ or $5$.', 0],
    ['not the first of alternatives', '5', 'The answer is \\(5\\) or \\(6\\).', 0],
    ['all alternatives', '1, 2', `${'Long is the way. '.repeat(40)} Hence $x=1$ or $x=2$.`, 1],
    ['whatever space follows', '5', `It is 5.${' '.repeat(30_000)}`, 1],
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

describe('as models write it', () => {
  it.each<[string, string, string, 0 | 1]>([
    ['unfenced latex, whole', raw`\frac{9}{7}`, raw`\dfrac{9}{7}`, 1],
    ['unfenced latex at end of sentence', raw`\frac{9}{7}`, raw`Adding both, the value is \dfrac{9}{7}.`, 1],
    ['unfenced latex other', raw`\frac{7}{9}`, raw`Adding both, the value is \dfrac{9}{7}.`, 0],
    ['unfenced sqrt', raw`3\sqrt{13}`, raw`so the distance is 3\sqrt{13}`, 1],
    ['unfenced sqrt plain', raw`\sqrt{\frac{1}{n}}`, `The result is sqrt(1/n).`, 1],
    ['unfenced sqrt plain differs', raw`\sqrt{\frac{1}{n}}`, `The result is sqrt(2/n).`, 0],
    ['bold', '73', 'So we get **73**', 1],
    ['bold', '73', 'So we get **73**.', 1],
    ['bold differs', '73', 'So we get **74**.', 0],
    ['bold eq', '73', '**x = 73**', 1],
    ['boxed text', '13', raw`\boxed{\text{13}}`, 1],
    ['boxed text', '13', raw`$\text{13}$`, 1],
    ['text unfenced', '13', raw`\text{13}`, 1],
    ['a labelled choice', 'B', raw`\boxed{\textbf{(B)}\ 12}`, 1],
    ['another labelled choice', 'A', raw`\boxed{\textbf{(B)}\ 12}`, 0],
    ['a unit of two', '18', raw`\boxed{18\;\text{km/h}}`, 1],
    ['a unit in words', '18', raw`\boxed{18\text{ miles per hour}}`, 1],
    ['a multiple with a unit', '18', raw`\boxed{18\text{ million per day}}`, 0],
    ['boxed text unit', '13', raw`\boxed{13\text{ apples}}`, 1],
    ['final answer bold', '73', '**Final Answer**\n\n**73**', 1],
    [
      'Final answer box',
      '73',
      raw`**Final Answer**
\[ \boxed{73} \]`,
      1,
    ],
    ['answer with formula later', '12', raw`Thus the answer is $3 \cdot 4 = 12$.`, 1],
    ['equation last', '5', raw`Solving gives x = 5`, 1],
    ['equation last', '5', raw`Solving gives x = 5.`, 1],
    ['eq last wrong', '5', raw`Solving gives x = 6.`, 0],
    ['align', '28\\%', raw`\begin{align*} L &= \frac{28}{100} \\ &= 28\% \end{align*}`, 1],
    ['two boxes and', '1,-2', raw`The solutions are $\boxed{1}$ and $\boxed{-2}$.`, 1],
    ['two boxes and', '-2', raw`The solutions are $\boxed{1}$ and $\boxed{-2}$.`, 0],
    ['two boxes but', '-2', raw`I thought $\boxed{1}$ but then $\boxed{-2}$.`, 1],
    ['two boxes or', '2', raw`It is \boxed{2} or \boxed{3}.`, 0],
    ['same twice', '3/2', raw`\boxed{1.5}, or \boxed{\frac32}`, 1],
    ['boxed inside think only', '5', raw`<think>\boxed{5}</think>`, 0],
    ['box with latex newline', '5', '\\boxed{\n5\n}', 1],
    ['#### with dollars', '18', '#### $18', 1],
    ['#### trailing', '18', '#### 18.', 1],
    ['#### differs', '18', '#### 19', 0],
    ['the answer is:', '18', 'The answer is: 18', 1],
    ['answer = ', '18', 'Answer = 18', 1],
    ['answer: bold', '18', '**Answer: 18**', 1],
    ['answer is bold', '18', 'The answer is **18**.', 1],
    ['correct answer is (B)', 'B', 'The correct answer is (B).', 1],
    ['correct answer is B', 'B', 'The correct answer is B.', 1],
    ['correct answer is B) text', 'B', 'The correct answer is B) 12', 1],
    ['boxed B. 12', 'B', raw`\boxed{B. 12}`, 1],
    ['boxed \text{B) 12}', 'B', raw`\boxed{\text{B) } 12}`, 1],
    ['negative', '-5', 'So the total is -5', 1],
    ['money', '18', 'She has $18 left.', 1],
    ['money comma', '1800', 'She has $1,800 left.', 1],
    ['money wrong', '18', 'She has $180 left.', 0],
    ['two numbers', '18', 'He buys 3 bags for 18 dollars', 1],
    ['percent', '28%', 'The loss is 28%.', 1],
    ['percent prose', '28\\%', 'The loss is 28 percent.', 1],
    ['fraction plain', '1/2', 'The probability is 1/2.', 1],
    ['fraction plain wrong', '2', 'The probability is 1/2.', 0],
    ['mixed', '7/2', 'It took 3 1/2 hours', 1],
    ['tuple plain', '(3,4)', 'The point is (3, 4).', 1],
    ['interval plain', '[0,1)', 'The domain is [0, 1).', 1],
    ['polynomial plain', 'x^2+1', 'The polynomial is x^2 + 1.', 1],
    ['polynomial plain 2', '2x+3', 'Therefore f(x) = 2x + 3', 1],
    ['an initial is no choice', 'B. Stone', raw`\boxed{B. Wood}`, 0],
    ['an initial of the same name', 'B. Stone', raw`\boxed{B. Stone}`, 1],
    ['two choices', 'B', 'The answer is (A) and (B)', 0],
    ['two choices b', 'A', raw`\boxed{(A) or (B)}`, 0],
    ['two choices c', 'A', raw`\boxed{A. B}`, 0],
    ['choice differs', 'C', raw`\boxed{B. 12}`, 0],
    ['mixed not its whole', '3', 'It took 3 1/2 hours', 0],
    ['star product', '6', 'So 2 *3* 1', 0],
    ['word answer', 'Evelyn', 'Evelyn', 1],
    ['word answer boxed', '\\text{Evelyn}', '\\boxed{Evelyn}', 1],
    ['word answer stated', '\\text{Evelyn}', 'The answer is Evelyn.', 1],
    ['word wrong', '\\text{Evelyn}', 'The answer is Carla.', 0],
    ['list in prose', '3,5,7', 'The answer is 3, 5, and 7.', 1],
    ['list not prose', '7', 'The answer is 3, 5, and 7.', 0],
    ['hope', '\\frac{1}{2}', 'Final Answer: The final answer is $\\frac{1}{2}$. I hope it is correct.', 1],
    ['degree', '90', 'The angle is $90^\\circ$.', 1],
    ['degree sign', '90^\\circ', 'The angle is 90°.', 1],
    ['im_end', '7', 'The answer is 7<|im_end|>', 1],
    ['no answer', '5', 'I cannot tell.', 0],
    ['year', '5', 'In 2004 he had 5 apples.', 1],
    ['answer empty', '5', 'The answer is ', 0],
    ['answer in next line', '5', 'The answer is\n\n5', 1],
    ['answer in next line display', raw`\frac12`, 'The answer is:\n\\[\n\\frac{1}{2}\n\\]', 1],
    ['boxed with dollar', '\\$36', raw`\boxed{\$36}`, 1],
    ['unicode', '2\\sqrt{3}', 'The length is 2√3.', 1],
    ['unicode pi', '2\\pi', 'The area is 2π.', 1],
    ['unicode minus', '-3', 'The answer is −3.', 1],
    ['x squared unicode', 'x^2', 'It is x².', 1],
    ['sci', '6.72\\times 10^{-5}', 'It is 6.72 × 10^{-5}.', 1],
  ])('%s: gold %s in %j', async (_, gold, response, value) => {
    expect(await valueOf(gold, response)).toBe(value);
  });
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
