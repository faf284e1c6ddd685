// Which answers a budget keeps.
import { expect, it } from 'vitest';
import { withinBudget } from '../../../runner/cascade/distill/token-budget.ts';

it('keeps whole answers, in order, up to the budget and no token beyond', () => {
  expect(withinBudget([3, 4, 3, 1], 10)).toEqual([true, true, true, false]);
  expect(withinBudget([3, 4, 3, 1], 9)).toEqual([true, true, false, false]);
});

it('prefers no short answer behind the first that does not fit', () => {
  expect(withinBudget([5, 9, 1, 1], 7)).toEqual([true, false, false, false]);
});

it('keeps one answer, however long it is', () => {
  expect(withinBudget([50, 1], 7)).toEqual([true, false]);
  expect(withinBudget([], 7)).toEqual([]);
});

it('keeps all where there is none', () => {
  expect(withinBudget([5, 1e9, 1], undefined)).toEqual([true, true, true]);
});
