import { describe, expect, test } from 'vitest';
import { LossScale, stepsToGrow } from '../../../runner/engine/optimizer/loss-scale.ts';

const after = (scale: LossScale, norms: readonly number[]) => norms.map((norm) => scale.observe(norm));

describe('loss scale', () => {
  test('is halved, and the step skipped, where the norm is not finite', () => {
    const scale = new LossScale();
    expect(after(scale, [1, Infinity, NaN, 0.5])).toEqual(['update', 'skip', 'skip', 'update']);
    expect(scale.state).toEqual({ scale: 2 ** 14, goodSteps: 1 });
  });

  test('is doubled after so many good steps in a row, and not before', () => {
    const scale = new LossScale({ scale: 8, goodSteps: stepsToGrow - 2 });
    expect(after(scale, [1, Infinity])).toEqual(['update', 'skip']);
    expect(scale.state).toEqual({ scale: 4, goodSteps: 0 });
    for (let step = 1; step < stepsToGrow; step++) scale.observe(1);
    expect(scale.scale).toBe(4);
    scale.observe(1);
    expect(scale.state).toEqual({ scale: 8, goodSteps: 0 });
  });

  test('ends at 2^24 above, and at 1 below, where a norm that is not finite is the model’s own', () => {
    const high = new LossScale({ scale: 2 ** 24, goodSteps: stepsToGrow - 1 });
    expect(high.observe(1)).toBe('update');
    expect(high.scale).toBe(2 ** 24);
    const low = new LossScale({ scale: 2, goodSteps: 0 });
    expect(after(low, [NaN, NaN])).toEqual(['skip', 'diverged']);
    expect(low.scale).toBe(1);
  });

  test('goes on from its state as if it had never stopped', () => {
    const norms = Array.from({ length: 3 * stepsToGrow }, (_, i) => (i % 1237 === 5 ? Infinity : 1));
    const whole = new LossScale();
    const expected = after(whole, norms);
    const before = new LossScale();
    const first = after(before, norms.slice(0, 2500));
    const resumed = new LossScale(JSON.parse(JSON.stringify(before.state)) as LossScale['state']);
    expect([...first, ...after(resumed, norms.slice(2500))]).toEqual(expected);
    expect(resumed.state).toEqual(whole.state);
  });

  test('takes no scale that would round', () => {
    expect(() => new LossScale({ scale: 3, goodSteps: 0 })).toThrow('3 is no power of two');
    expect(() => new LossScale({ scale: 2 ** 25, goodSteps: 0 })).toThrow('no power of two between');
  });
});
