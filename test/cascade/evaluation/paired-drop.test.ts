// The paired drop against binomial quantiles worked out by hand.
import { describe, expect, it } from 'vitest';
import { pairedDrop } from '../../../runner/cascade/evaluation/paired-drop.ts';
import { drawKey } from '../../../runner/engine/random/draws.ts';

const key = drawKey(3, 'interval/test', 0);
const filled = (value: number, n: number) => Array.from({ length: n }, () => value);

describe('pairedDrop', () => {
  it('of six tasks that all went from 1 to 0 is sure', () => {
    // Resampled: 1 seven times and -1 once, eight draws: X of them are -1, Binomial(8, 1/8). P(X >= 4) = 0.011 and
    // P(X >= 3) = 0.067, so the 2.5 % quantile of the mean is (8 - 2 * 3) / 8; P(X = 0) = 0.34, so the upper one is 1.
    expect(pairedDrop(filled(1, 6), filled(0, 6), key, 0.95)).toEqual({
      value: 1,
      low: 0.25,
      high: 1,
      tasks: 6,
    });
  });

  it('of three is not: that may be luck', () => {
    // 1 four times and -1 once: Binomial(5, 1/5), P(X >= 4) = 0.0067, P(X >= 3) = 0.058: (5 - 2 * 3) / 5.
    expect(pairedDrop(filled(1, 3), filled(0, 3), key, 0.95)).toMatchObject({ value: 1, low: -0.2 });
  });

  it('is that of the pairs: a common spread over tasks does not blur it', () => {
    const before = Array.from({ length: 40 }, (_, task) => task / 40);
    const drop = pairedDrop(
      before,
      before.map((value) => value - 0.1),
      key,
      0.95,
    )!;
    expect(drop.value).toBeCloseTo(0.1, 12);
    expect(drop.low).toBeGreaterThan(0.05);
    const mixed = pairedDrop(before, [...before].reverse(), key, 0.95)!;
    expect(mixed.value).toBeCloseTo(0, 12);
    expect(mixed.low).toBeLessThan(-0.1);
  });

  it('compares tasks that were scored both times, and nothing where there are none', () => {
    expect(pairedDrop([1, null, 0.5, 1], [0.5, 0, null, 1], key, 0.95)).toMatchObject({
      value: 0.25,
      tasks: 2,
    });
    expect(pairedDrop([1, null], [null, 1], key, 0.95)).toBeUndefined();
  });

  it('is nothing at all where nothing changed', () => {
    expect(pairedDrop([0, 1, 0.5], [0, 1, 0.5], key, 0.95)).toEqual({ value: 0, low: 0, high: 0, tasks: 3 });
  });
});
