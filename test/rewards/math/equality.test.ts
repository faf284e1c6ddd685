// Which answers are equal. Tables hold both polarities: a verifier that is too kind is worse than none.
import { describe, expect, it } from 'vitest';
import { valueOf } from './verify.ts';

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
  ])('%j = %j', async (gold, given) => {
    expect(await valueOf(gold, `\\boxed{${given}}`)).toBe(1);
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
  ])('%j != %j', async (gold, given) => {
    expect(await valueOf(gold, `\\boxed{${given}}`)).toBe(0);
  });
});
