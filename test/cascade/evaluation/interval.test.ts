// Intervals of means over tasks: against published values, by hand, and by how often they hold the truth.
import { describe, expect, it } from 'vitest';
import { bootstrapInterval } from '../../../runner/cascade/evaluation/bootstrap.ts';
import { meanInterval, scoreInterval } from '../../../runner/cascade/evaluation/interval.ts';
import { normalQuantile } from '../../../runner/cascade/evaluation/normal.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';

const key = drawKey(7, 'interval/test', 0);
const coins = (ones: number, n: number) => Array.from({ length: n }, (_, i) => (i < ones ? 1 : 0));

describe('normalQuantile', () => {
  // Tables of the normal distribution (Abramowitz and Stegun, 26.2).
  it.each([
    [0.5, 0],
    [0.75, 0.6744897502],
    [0.975, 1.9599639845],
    [0.995, 2.5758293035],
    [0.01, -2.326347874],
  ])('of %s is %s', (p, z) => {
    expect(normalQuantile(p)).toBeCloseTo(z, 8);
  });
});

describe('scoreInterval', () => {
  it('is Wilson’s where all values are 0 or 1', () => {
    // R: prop.test(7, 10, correct = FALSE)$conf.int
    const { value, low, high } = scoreInterval(coins(7, 10), 0.95);
    expect(value).toBe(0.7);
    expect(low).toBeCloseTo(0.3967781, 6);
    expect(high).toBeCloseTo(0.8922087, 6);
  });

  it('has a width at the ends: z² / (n + z²)', () => {
    // n = 10: 3.8414588 / 13.8414588
    expect(scoreInterval(coins(0, 10), 0.95)).toEqual({
      value: 0,
      low: 0,
      high: expect.closeTo(0.2775328, 6),
    });
    expect(scoreInterval(coins(10, 10), 0.95)).toEqual({
      value: 1,
      low: expect.closeTo(0.7224672, 6),
      high: 1,
    });
    expect(scoreInterval(coins(1, 1), 0.95).low).toBeCloseTo(1 / (1 + 3.8414588), 6);
  });

  it('takes more tasks to be effective where values vary less than a coin', () => {
    // With 0 and 1 added: 0, 0.5, 1, 0.5, 0, 1: variance 1/6 over 1/4 is 2/3, so N = 4 * 3/2 = 6.
    // half = sqrt(z² / 24 + (z² / 12)²) / (1 + z² / 6) = sqrt(0.1600608 + 0.1024778) / 1.6402431 = 0.3123840
    const { low, high } = scoreInterval([0, 0.5, 1, 0.5], 0.95);
    expect(high - 0.5).toBeCloseTo(0.312384, 5);
    expect(0.5 - low).toBeCloseTo(0.312384, 5);
  });

  // avg@4 of 50 tasks, each with a chance of its own around the mean: solved by draws, so the same in every run.
  it.each([
    [0.01, 0],
    [0.05, 0.04],
    [0.5, 0.4],
    [0.95, 0.05],
  ])('holds the truth about as often as it says: mean %s, spread %s', (centre, spread) => {
    const runs = 1_000;
    let held = 0;
    for (let run = 0; run < runs; run += 1) {
      const values = Array.from({ length: 50 }, (_, task) => {
        const draw = drawStream(drawKey(1, `coverage/${centre}`, run), task, 0);
        const chance = centre + spread * (2 * draw(4) - 1);
        return [0, 1, 2, 3].filter((sample) => draw(sample) < chance).length / 4;
      });
      const { low, high } = scoreInterval(values, 0.95);
      held += low <= centre && centre <= high ? 1 : 0;
    }
    expect(held / runs).toBeGreaterThan(0.93);
  });
});

describe('meanInterval', () => {
  it('scales with the most that a task is worth', () => {
    const { low, high } = scoreInterval(coins(7, 10), 0.95);
    const scaled = meanInterval(
      coins(7, 10).map((one) => 100 * one),
      100,
      key,
      0.95,
    );
    expect(scaled).toEqual({ value: 70, low: 100 * low, high: 100 * high });
  });

  it('resamples values that have no bounds, or that break them', () => {
    const values = [1.5, 2.5, -0.5, 0.25, 4, 1];
    const drawn = bootstrapInterval(values, key, 0.95);
    expect(meanInterval(values, undefined, key, 0.95)).toEqual(drawn);
    expect(meanInterval(values, 1, key, 0.95)).toEqual(drawn);
  });
});

describe('bootstrapInterval', () => {
  it('is the percentiles of resampled means', () => {
    // The mean of 20 draws from {0 x 10, 1 x 10} is Binomial(20, 1/2) / 20: its 2.5 % and 97.5 % quantiles are 6 and 14
    // (P(X <= 5) = 0.0207, P(X <= 6) = 0.0577); its 20 % quantile is 8 (P(X <= 7) = 0.132, P(X <= 8) = 0.252).
    expect(bootstrapInterval(coins(10, 20), key, 0.95)).toEqual({ value: 0.5, low: 0.3, high: 0.7 });
    expect(bootstrapInterval(coins(10, 20), key, 0.6)).toEqual({ value: 0.5, low: 0.4, high: 0.6 });
  });

  it('is drawn by its key: the same again, another with another key', () => {
    const values = Array.from({ length: 30 }, (_, i) => Math.sin(i));
    expect(bootstrapInterval(values, key, 0.9)).toEqual(bootstrapInterval(values, key, 0.9));
    expect(bootstrapInterval(values, drawKey(8, 'interval/test', 0), 0.9)).not.toEqual(
      bootstrapInterval(values, key, 0.9),
    );
  });
});
