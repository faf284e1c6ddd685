// The interval against what is known of it: all resamples of equal values are equal; of zeros and ones the mean is binomial.
import { describe, expect, it } from 'vitest';
import { pairedBootstrap } from '../../../../examples/small-world/report/paired-bootstrap.ts';

describe('pairedBootstrap', () => {
  it('of equal differences has no width', () => {
    expect(pairedBootstrap([0.25, 0.25, 0.25])).toEqual({ value: 0.25, low: 0.25, high: 0.25 });
  });

  it('of two tasks, 0 and 1, reaches both: a resample is all zeros, or all ones, one time in four', () => {
    expect(pairedBootstrap([0, 1])).toEqual({ value: 0.5, low: 0, high: 1 });
  });

  it('of 400 tasks, half 0 and half 1, is 1.96 standard errors of 0.025 wide on each side', () => {
    const { value, low, high } = pairedBootstrap(Array.from({ length: 400 }, (_, task) => task % 2));
    expect(value).toBe(0.5);
    expect(low).toBeGreaterThan(0.5 - 1.96 * 0.025 - 0.005);
    expect(low).toBeLessThan(0.5 - 1.96 * 0.025 + 0.005);
    expect(high).toBeGreaterThan(0.5 + 1.96 * 0.025 - 0.005);
    expect(high).toBeLessThan(0.5 + 1.96 * 0.025 + 0.005);
  });

  it('is the same every time, and moves with its differences', () => {
    const differences = [0, 0.125, 0.5, -0.25, 0.375, 0, 0.25];
    const interval = pairedBootstrap(differences);
    expect(pairedBootstrap(differences)).toEqual(interval);
    const moved = pairedBootstrap(differences.map((value) => value + 1));
    expect(moved.low).toBeCloseTo(interval.low + 1, 12);
    expect(moved.high).toBeCloseTo(interval.high + 1, 12);
  });

  it('refuses to say anything of nothing', () => {
    expect(() => pairedBootstrap([])).toThrow('no task was scored both before and after');
  });
});
