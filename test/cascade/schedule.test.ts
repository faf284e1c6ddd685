import { describe, expect, it } from 'vitest';
import { learningRate } from '../../runner/cascade/schedule.ts';

describe('learningRate', () => {
  it('is constant from the first step without warm-up', () => {
    const constant = { lr: 2e-6, lr_schedule: 'constant', warmup_steps: 0 } as const;
    expect([1, 5, 500].map((step) => learningRate(constant, step, 500))).toEqual([2e-6, 2e-6, 2e-6]);
  });

  it('warms up linearly from a tenth of the peak', () => {
    // 10 steps: 0.1, 0.19, 0.28 … of the peak; the peak itself at step 11
    const warm = { lr: 1, lr_schedule: 'constant', warmup_steps: 10 } as const;
    expect(learningRate(warm, 1, 100)).toBeCloseTo(0.1, 12);
    expect(learningRate(warm, 2, 100)).toBeCloseTo(0.19, 12);
    expect(learningRate(warm, 11, 100)).toBe(1);
  });

  it('falls along a half cosine after the warm-up', () => {
    // 2 warm-up + 4 steps: cosine of 0, pi/4, pi/2, 3 pi/4
    const cosine = { lr: 1, lr_schedule: 'cosine', warmup_steps: 2 } as const;
    const expected = [1, 0.8535533906, 0.5, 0.1464466094];
    [3, 4, 5, 6].forEach((step, i) =>
      expect(learningRate(cosine, step, 6)).toBeCloseTo(expected[i] ?? NaN, 9),
    );
  });
});
