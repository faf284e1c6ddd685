// Golden vectors of GRPO's advantage, each with its derivation; edge cases of near-zero variance and unscored rollouts.
import { describe, expect, it } from 'vitest';
import { groupAdvantage, standardScores } from '../../../runner/cascade/rl/advantage.ts';

describe('groupAdvantage', () => {
  it('normalises by the sample standard deviation', () => {
    // mean 1/2; squared deviations 4 x 1/4 = 1; variance 1 / (4 - 1); std 0.5773502692; A = +-0.5 / 0.5773512692
    const { advantages_G, mean, std } = groupAdvantage([1, 0, 0, 1]);
    expect(mean).toBe(0.5);
    expect(std).toBeCloseTo(0.5773502692, 10);
    [0.8660239, -0.8660239, -0.8660239, 0.8660239].forEach((expected, i) =>
      expect(advantages_G[i]).toBeCloseTo(expected, 7),
    );
  });

  it('keeps a lone outlier bounded: 0.35 seven times and 0 once', () => {
    // mean 0.30625; deviations 7 x 0.04375 and -0.30625; sum of squares 0.0133984375 + 0.0937890625 = 0.1071875;
    // variance /7 = 0.0153125; std 0.1237436867; A = 0.04375 / 0.1237446867 and -0.30625 / 0.1237446867
    const { advantages_G } = groupAdvantage([0.35, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35, 0]);
    expect(advantages_G[0]).toBeCloseTo(0.3535505, 6);
    expect(advantages_G[7]).toBeCloseTo(-2.4748537, 6);
  });

  it('gives exactly zero where all rewards are equal, rounding noise included', () => {
    for (const reward of [0, 1, 0.35, 1 / 3, -10]) {
      const { advantages_G, std } = groupAdvantage(new Array<number>(8).fill(reward));
      expect(advantages_G).toEqual(new Array(8).fill(0));
      expect(std).toBeLessThan(1e-6);
    }
    expect(groupAdvantage([0.1 + 0.2, 0.3, 0.3]).advantages_G).toEqual([0, 0, 0]);
  });

  it('takes equal rewards for equal where their mean is rounded', () => {
    // The sum of ten of them is off by some units of 2^-16: their mean is none of them, by more than 1e-6.
    const large = 1e10 + 1 / 3;
    expect(groupAdvantage(new Array<number>(10).fill(large))).toEqual({
      advantages_G: new Array(10).fill(0),
      mean: large,
      std: 0,
    });
    expect(standardScores(new Array<number>(10).fill(large))).toEqual(new Array(10).fill(0));
  });

  it('never exceeds (n - 1) / sqrt(n), however small the difference', () => {
    for (const difference of [1e-3, 1e-5, 2e-6, 1e-7]) {
      const { advantages_G } = groupAdvantage([1, 1, 1, 1, 1, 1, 1, 1 + difference]);
      for (const advantage of advantages_G)
        expect(Math.abs(advantage ?? NaN)).toBeLessThanOrEqual(7 / Math.sqrt(8));
    }
    // 1.00000 and 1.00001: mean deviation 5e-6; std 7.0711e-6; A = 5e-6 / 8.0711e-6
    expect(groupAdvantage([1, 1.00001]).advantages_G[1]).toBeCloseTo(0.6195, 4);
  });

  it('leaves unscored rollouts out of mean, std and loss', () => {
    const { advantages_G, mean } = groupAdvantage([1, null, 0, 0, null, 1]);
    expect(mean).toBe(0.5);
    expect(advantages_G[1]).toBeNull();
    expect(advantages_G[4]).toBeNull();
    expect(advantages_G.filter((advantage) => advantage !== null)).toEqual(
      groupAdvantage([1, 0, 0, 1]).advantages_G,
    );
  });

  it('drops a group with fewer than two scored rollouts', () => {
    expect(groupAdvantage([1]).advantages_G).toEqual([null]);
    expect(groupAdvantage([null, 0.7, null])).toEqual({
      advantages_G: [null, null, null],
      mean: null,
      std: null,
    });
    expect(groupAdvantage([null, null]).advantages_G).toEqual([null, null]);
  });
});
