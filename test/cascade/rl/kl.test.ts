// The k3 penalty by hand: what it adds to advantages, and what it estimates.
import { describe, expect, it } from 'vitest';
import { ascentWeights } from '../../../runner/cascade/objective.ts';
import { klPull } from '../../../runner/cascade/rl/kl.ts';

const ids = (...tokens: number[]) => Int32Array.from(tokens);
const logs = (...values: number[]) => Float32Array.from(values);

describe('klPull', () => {
  // Prompts of 1 and 2 tokens, responses of 2 and 1; log-probabilities of prompts are 0 in both and must not count.
  //   token      log pi   log pi_ref   d = difference   r = e^d     r - 1      k3 = r - 1 - d
  //   1st, 1st    -1        -0.5            0.5         1.648721    0.648721    0.148721
  //   1st, 2nd    -0.5      -1             -0.5         0.606531   -0.393469    0.106531
  //   2nd, 1st    -2        -2              0           1           0           0
  const pairs = [
    { prompt: ids(5), response: ids(6, 1) },
    { prompt: ids(5, 6), response: ids(1) },
  ];
  const policy = [logs(0, -1, -0.5), logs(0, 0, -2)];
  const reference = [logs(0, -0.5, -1), logs(0, 0, -2)];

  it('gives beta * (pi_ref / pi - 1) to every response token, and the mean of k3 over all of them', () => {
    const { pulls_T, kl } = klPull(0.1, pairs, policy, reference);
    expect(pulls_T[0]![0]).toBeCloseTo(0.0648721, 7);
    expect(pulls_T[0]![1]).toBeCloseTo(-0.0393469, 7);
    expect([...pulls_T[1]!]).toEqual([0]);
    // (0.148721 + 0.106531 + 0) / 3
    expect(kl).toBeCloseTo(0.085084, 6);
  });

  it('adds to the advantage, so that it shares in the loss as that does, zero-variance groups included', () => {
    const { pulls_T } = klPull(0.1, pairs, policy, reference);
    const held = pairs.map((pair, i) => ({ ...pair, advantage: i === 0 ? 0 : 2, pull_T: pulls_T[i] }));
    // Token mean: N = 3. Sequence mean: 2 tokens * 2 sequences, 1 token * 2 sequences.
    const [first, second] = ascentWeights('token_mean', held).map(({ weights_T }) => weights_T);
    expect(first![0]).toBe(0);
    expect(first![1]).toBeCloseTo(0.0648721 / 3, 7);
    expect(first![2]).toBeCloseTo(-0.0393469 / 3, 7);
    expect(second![2]).toBeCloseTo(2 / 3, 7);
    const [slow, fast] = ascentWeights('sequence_mean', held).map(({ weights_T }) => weights_T);
    expect(slow![1]).toBeCloseTo(0.0648721 / 4, 7);
    expect(slow![2]).toBeCloseTo(-0.0393469 / 4, 7);
    expect(fast![2]).toBeCloseTo(1, 7);
  });

  it('is never negative, and near 0 no rounding', () => {
    for (const d of [-3, -0.1, -(2 ** -20), 2 ** -20, 0.1, 3]) {
      const { kl } = klPull(1, [pairs[1]!], [logs(0, 0, -4)], [logs(0, 0, -4 + d)]);
      expect(kl).toBeGreaterThan(0);
      // The series of e^d - 1 - d: d^2 / 2 to first order.
      if (Math.abs(d) < 0.01) expect(kl / (d * d)).toBeCloseTo(0.5, 3);
    }
    expect(klPull(1, [], [], []).kl).toBe(0);
  });

  it('points where the penalty falls: towards tokens that the reference likes better', () => {
    // Numerically: d k3 / d log pi = 1 - r, so the ascent weight of log pi is r - 1, times beta.
    const k3 = (logPi: number) => Math.exp(-1 - logPi) - 1 - (-1 - logPi);
    for (const logPi of [-0.3, -1.7, -2.5]) {
      const slope = (k3(logPi + 1e-5) - k3(logPi - 1e-5)) / 2e-5;
      const { pulls_T } = klPull(1, [pairs[1]!], [logs(0, 0, logPi)], [logs(0, 0, -1)]);
      expect(pulls_T[0]![0]).toBeCloseTo(-slope, 5);
    }
  });
});
