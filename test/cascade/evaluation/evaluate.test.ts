import { describe, expect, it } from 'vitest';
import { interval } from '../../../runner/cascade/evaluation/evaluate.ts';

describe('interval', () => {
  it('is the mean with 1.96 standard errors over tasks', () => {
    // 0, 0.5, 1, 0.5: mean 0.5; variance (0.25 + 0 + 0.25 + 0) / 3 = 1/6; error sqrt(1/24) = 0.2041241
    const { value, low, high } = interval([0, 0.5, 1, 0.5]);
    expect(value).toBe(0.5);
    expect(high - value).toBeCloseTo(1.96 * 0.2041241452, 9);
    expect(value - low).toBeCloseTo(1.96 * 0.2041241452, 9);
  });

  it('has no width where all tasks are equal', () => {
    expect(interval([0.25, 0.25])).toEqual({ value: 0.25, low: 0.25, high: 0.25 });
  });
});
