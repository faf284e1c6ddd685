// What counts as shared between training and evaluation.
import { expect, it } from 'vitest';
import { gramOverlap, sameTexts } from '../../runner/data/overlap.ts';

const words = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `w${from + i}`).join(' ');

it('nine words in a row are shared, eight are not; layout and case hide nothing', () => {
  const evaluated = [words(0, 20)];
  expect(gramOverlap([`x ${words(5, 14)} y`], evaluated)).toEqual({ rows: 1, examples: [[0, 0]] });
  expect(gramOverlap([`x ${words(5, 13)} y`], evaluated).rows).toBe(0);
  expect(gramOverlap([words(5, 14).toUpperCase().replaceAll(' ', ',\n- ')], evaluated).rows).toBe(1);
});

it('a short text is one gram: it is shared whole or not at all', () => {
  expect(gramOverlap(['2 + 2 =', '2 + 3 =', ''], ['4 + 4 =', '2+2=', ''])).toEqual({
    rows: 1,
    examples: [[0, 1]],
  });
});

it('names the first ten pairs and counts all', () => {
  const all = Array.from({ length: 50 }, (_, row) => words(100 * row, 100 * row + 12));
  const { rows, examples } = gramOverlap(all, all);
  expect(rows).toBe(50);
  expect(examples).toEqual(Array.from({ length: 10 }, (_, row) => [row, row]));
});

it('the same text, surrounding white space aside; a part of it is another text', () => {
  expect(sameTexts(['a b', ' a b\n', 'a'], ['a b'])).toEqual({
    rows: 2,
    examples: [
      [0, 0],
      [1, 0],
    ],
  });
});
