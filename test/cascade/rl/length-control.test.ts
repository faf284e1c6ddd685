// Group-relative length control (Nemotron 3 Nano, Eq. 4-6), against numbers worked out by hand.
import { describe, expect, it } from 'vitest';
import { lengthControl } from '../../../runner/cascade/rl/length-control.ts';

const lengths = (think_G: readonly (number | null)[], answer_G: readonly (number | null)[]) =>
  think_G.map((think, g) => ({ think, answer: answer_G[g]! }));
const none = [null, null, null, null];

const expectClose = (given: readonly (number | null)[], expected: readonly (number | null)[]) => {
  expect(given).toHaveLength(expected.length);
  given.forEach((value, g) => {
    if (expected[g] === null) expect(value).toBeNull();
    else expect(value).toBeCloseTo(expected[g]!, 12);
  });
};

describe('lengthControl', () => {
  it('one part: w = 1 - (l - min)/(max - min), centred, halved; the shortest of the good gains half more', () => {
    // w = 1, 1/2, 0, 0; mean 3/8; centred and halved 5/16, 1/16, -3/16, -3/16. P80 of 0, 1/2, 1, 1: rank 2.4, so 1. The
    // shortest has 1: + 1/2.
    expectClose(lengthControl([1, 0, 0.5, 1], lengths([10, 20, 30, 30], none)), [
      1 + 5 / 16 + 1 / 2,
      0 + 1 / 16,
      0.5 - 3 / 16,
      1 - 3 / 16,
    ]);
  });

  it('both parts add up', () => {
    // answer: w = 2/3, 1, 0; mean 5/9; halved 1/18, 2/9, -5/18. The shortest answer has reward 0, below P80.
    expectClose(lengthControl([1, 0, 0.5, 1], lengths([10, 20, 30, 30], [4, 2, 8, null])), [
      1 + 5 / 16 + 1 / 2 + 1 / 18,
      0 + 1 / 16 + 2 / 9,
      0.5 - 3 / 16 - 5 / 18,
      1 - 3 / 16,
    ]);
  });

  it('P80 lies between ranks: of 0, 1, 2, 3 it is 2.4, so 2 is not good and 3 is', () => {
    // w = 1, 0, 0, 0; mean 1/4; halved 3/8, -1/8 three times.
    expectClose(lengthControl([2, 0, 1, 3], lengths([1, 9, 9, 9], none)), [
      2 + 3 / 8,
      -1 / 8,
      1 - 1 / 8,
      3 - 1 / 8,
    ]);
    expectClose(lengthControl([3, 0, 1, 2], lengths([1, 9, 9, 9], none)), [
      3 + 3 / 8 + 1 / 2,
      -1 / 8,
      1 - 1 / 8,
      2 - 1 / 8,
    ]);
  });

  it('adds nothing where all are equally long, or where one alone has the part', () => {
    expect(lengthControl([1, 0, 0, 1], lengths([7, 7, 7, 7], [7, null, null, null]))).toEqual([1, 0, 0, 1]);
    expect(lengthControl([1, 0, 0, 1], lengths(none, none))).toEqual([1, 0, 0, 1]);
  });

  it('all who share the shortest length gain, if good', () => {
    // w = 1, 1, 0, 1: mean 3/4; halved 1/8, 1/8, -3/8, 1/8.
    expectClose(lengthControl([1, 1, 1, 0], lengths([2, 2, 4, 2], none)), [1.625, 1.625, 0.625, 0.125]);
  });

  it('an unscored rollout has no reward, no length and no rank', () => {
    const without = lengthControl([1, 0, 0.5], lengths([10, 20, 30], [3, 5, 9]));
    const with_ = lengthControl([1, null, 0, 0.5], lengths([10, 1, 20, 30], [3, 1, 5, 9]));
    expect(with_.filter((_, g) => g !== 1)).toEqual(without);
    expect(with_[1]).toBeNull();
    expect(lengthControl([1, null], lengths([1, 2], [1, 2]))).toEqual([1, null]);
  });

  it('the order of a group means nothing, and what it adds but for the bonus sums to nothing', () => {
    const rewards = [0.1, 0.9, 0.4, 0.3];
    const of = lengths([5, 9, 12, 30], [8, 2, 6, 6]);
    const forwards = lengthControl(rewards, of);
    expectClose(lengthControl(rewards.toReversed(), of.toReversed()), forwards.toReversed());
    // The shortest answer is the good one (0.9, P80 0.6), the shortest thinking is not.
    const sum = forwards.reduce<number>((total, value) => total + value!, 0);
    expect(sum).toBeCloseTo(0.1 + 0.9 + 0.4 + 0.3 + 0.5, 12);
  });
});
