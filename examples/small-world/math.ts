// Math: sums and differences of two numbers below 100, worked out column by column while thinking.
import type { MathRow } from '../../api/contract/task.ts';
import type { Domain, Response } from './domain.ts';
import { drawOf } from './draw.ts';

export const math: Domain<MathRow> = {
  name: 'math',
  mode: 'thinking',
  flawedShare: 0.5,
  train: 1000,
  supervised: 2600,
  item(n) {
    const draw = drawOf(`math/${n}`);
    const [one, other] = [draw.between('one', 10, 99), draw.between('other', 10, 99)];
    const plus = draw.chance('plus', 0.5);
    const [a, b] = plus ? [one, other] : [Math.max(one, other), Math.min(one, other)];
    const slip = draw.pick('slip', [1, -1]);
    const work = plus ? sum : difference;
    return {
      row: { prompt: `What is ${a}${plus ? '+' : '-'}${b}?`, answer: String(plus ? a + b : a - b) },
      good: work(a, b, 0),
      flawed: work(a, b, slip),
    };
  },
};

const digits = (value: number): [tens: number, units: number] => [Math.floor(value / 10), value % 10];

/** `slip`: by how much the tens come out wrong. */
function sum(a: number, b: number, slip: number): Response {
  const [[a10, a1], [b10, b1]] = [digits(a), digits(b)];
  const [carry, units] = digits(a1 + b1);
  const tens = a10 + b10 + carry + slip;
  return {
    thinking: `${a1}+${b1}=${a1 + b1},${a10}+${b10}+${carry}=${tens}`,
    answer: `\\boxed{${tens * 10 + units}}`,
  };
}

function difference(a: number, b: number, slip: number): Response {
  const [[a10, a1], [b10, b1]] = [digits(a), digits(b)];
  const borrow = a1 < b1 ? 1 : 0;
  const units = a1 + 10 * borrow - b1;
  const right = a10 - b10 - borrow;
  const tens = right + slip < 0 ? right + 1 : right + slip;
  return {
    thinking: `${a1 + 10 * borrow}-${b1}=${units},${a10}-${b10}-${borrow}=${tens}`,
    answer: `\\boxed{${tens * 10 + units}}`,
  };
}
