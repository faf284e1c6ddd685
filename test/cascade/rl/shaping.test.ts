// tanh shaping by hand, and what stands before it.
import { describe, expect, it } from 'vitest';
import { groupAdvantage } from '../../../runner/cascade/rl/advantage.ts';
import { tanhShaped } from '../../../runner/cascade/rl/shaping.ts';

describe('tanhShaped', () => {
  it('is tanh((r - mean) / std) of the scored', () => {
    // 1, 2, 3, 6: mean 3; deviations -2, -1, 0, 3: squares 4 + 1 + 0 + 9 = 14; std = sqrt(14 / 3) = 2.160247.
    // z = -0.925820, -0.462910, 0, 1.388730; tanh = -0.728639, -0.432453, 0, 0.882891.
    const shaped = tanhShaped([1, 2, null, 3, 6]);
    expect(shaped[2]).toBeNull();
    for (const [g, expected] of [
      [0, -0.728639],
      [1, -0.432453],
      [3, 0],
      [4, 0.882891],
    ] as const)
      expect(shaped[g]).toBeCloseTo(expected, 6);
  });

  it('does not know the scale of a reward model', () => {
    const plain = tanhShaped([1, 2, 3, 6]);
    const scaled = tanhShaped([1, 2, 3, 6].map((reward) => 100 * reward - 7));
    scaled.forEach((reward, g) => expect(reward).toBeCloseTo(plain[g]!, 12));
  });

  it('is 0 where the group has no variance, for rounding noise too, and for a single reward', () => {
    expect(tanhShaped([0.3, 0.1 + 0.2, 0.3])).toEqual([0, 0, 0]);
    expect(tanhShaped([4, null])).toEqual([0, null]);
    expect(tanhShaped([null])).toEqual([null]);
  });

  it('holds back a lone outlier: the rest keep more of their differences', () => {
    // Of 16 the outlier stands at z = 3.75 or so, where tanh is level, and the others where it is steep.
    const rewards = [...Array.from({ length: 15 }, (_, g) => g / 10), 60];
    const spread = (given: readonly (number | null)[]) => {
      const { advantages_G } = groupAdvantage(given);
      return advantages_G[14]! - advantages_G[0]!;
    };
    expect(spread(tanhShaped(rewards))).toBeGreaterThan(2 * spread(rewards));
  });
});
