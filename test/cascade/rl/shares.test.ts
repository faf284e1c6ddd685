// Prompts of each batch by domain: every batch is full, shares are exact over the stage, halves are possible in each domain.
import { describe, expect, it } from 'vitest';
import type { Source } from '../../../runner/cascade/rl/source.ts';
import { sharesOf } from '../../../runner/cascade/rl/shares.ts';

type Weighted = Pick<Source, 'mode' | 'weight'>;
const plain = (...weights: number[]): Weighted[] => weights.map((weight) => ({ weight, mode: undefined }));
const halved = (...weights: number[]): Weighted[] =>
  weights.map((weight, i) => ({ weight, mode: i === 0 ? 'half_half' : 'thinking' }));

/** Of the first `steps` steps. */
const steps = (sources: readonly Weighted[], prompts: number, count: number): number[][] => {
  const at = sharesOf(sources, prompts);
  return Array.from({ length: count }, (_, i) => at(i + 1));
};

describe('sharesOf', () => {
  it('gives all to a single source', () => {
    expect(steps(plain(0.3), 5, 2)).toEqual([[5], [5]]);
  });

  it('goes place after place to the source that is furthest behind', () => {
    // Weights 3 : 1, three places a step. Behind before each place, as (3/4 k - given, 1/4 k - given):
    // k=1 (.75, .25) a; k=2 (.5, .5) a, the first of equals; k=3 (.25, .75) b | k=4 (1, 0) a; k=5 (.75, .25) a; k=6 (.5, .5) a |
    // k=7 (.25, .75) b; k=8 (1, 0) a; k=9 (.75, .25) a. After eight places six and two: exact.
    expect(steps(plain(3, 1), 3, 3)).toEqual([
      [2, 1],
      [3, 0],
      [2, 1],
    ]);
  });

  it('knows the shares of weights whose sum is no number', () => {
    expect(steps(plain(1.5e308, 0.5e308), 4, 2)).toEqual([
      [3, 1],
      [3, 1],
    ]);
  });

  it('counts in pairs where a domain is half thinking', () => {
    expect(steps(halved(1, 1, 2), 8, 2)).toEqual([
      [2, 2, 4],
      [2, 2, 4],
    ]);
    expect(() => sharesOf(halved(1), 7)).toThrow(/7 prompts .* cannot be halved/);
  });

  it('is a function of the step alone, whatever was asked before', () => {
    const sources = plain(0.55, 0.3, 0.15);
    const whole = steps(sources, 7, 40);
    expect(sharesOf(sources, 7)(33)).toEqual(whole[32]);
    const at = sharesOf(sources, 7);
    expect([at(9), at(2), at(2), at(30)]).toEqual([whole[8], whole[1], whole[1], whole[29]]);
  });

  it('fills every batch and never strays far, over many mixtures', () => {
    let state = 12345;
    const random = (): number => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
    for (let round = 0; round < 200; round += 1) {
      const weights = Array.from({ length: 2 + Math.floor(random() * 8) }, () => 0.05 + random() ** 3);
      const unit = random() < 0.5 ? 1 : 2;
      const prompts = unit * (1 + Math.floor(random() * 40));
      const all = steps(unit === 1 ? plain(...weights) : halved(...weights), prompts, 50);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const given = weights.map(() => 0);
      all.forEach((counts, s) => {
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(prompts);
        counts.forEach((count, i) => {
          expect(count % unit).toBe(0);
          expect(count).toBeGreaterThanOrEqual(0);
          given[i]! += count;
          const owed = ((s + 1) * prompts * weights[i]!) / total;
          expect(Math.abs(given[i]! - owed)).toBeLessThan(2 * unit);
        });
      });
    }
  });
});
