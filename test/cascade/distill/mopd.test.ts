// Weights of tokens, by hand. Eq. 2-4 of Nemotron-Cascade 2: a = log teacher - log train, rho = train / sampler, and outside the gate
// exactly nothing.
import { describe, expect, it } from 'vitest';
import { distillStage } from '../../../api/contract/stages/distill.ts';
import { tokenWeight } from '../../../runner/cascade/distill/mopd.ts';
import type { PolicyGradient } from '../../../runner/cascade/distill/mopd.ts';
import { normalizersOf } from '../../../runner/cascade/objective.ts';

/** As posted, its defaults filled in. */
const objective = (given: object = {}): PolicyGradient =>
  distillStage.parse({ kind: 'distill', steps: 1, objective: { type: 'policy_gradient', ...given } })
    .objective as PolicyGradient;

/** Of probabilities. */
const logs = (train: number, sampler: number, teacher: number) => ({
  train: Math.log(train),
  sampler: Math.log(sampler),
  teacher: Math.log(teacher),
});

describe('tokenWeight', () => {
  it('is how much likelier the token is to the teacher, times the ratio', () => {
    // rho = 0.3 / 0.25 = 1.2, a = ln(0.6 / 0.3) = ln 2: 1.2 ln 2.
    const { advantage, gated, weight } = tokenWeight(objective(), logs(0.3, 0.25, 0.6), 0);
    expect(advantage).toBeCloseTo(Math.LN2, 12);
    expect(weight).toBeCloseTo(1.2 * Math.LN2, 12);
    expect(gated).toBe(false);
    // rho = 1, a = ln(0.1 / 0.4) = -ln 4: what the teacher would hardly say loses.
    expect(tokenWeight(objective(), logs(0.4, 0.4, 0.1), 0).weight).toBeCloseTo(-Math.log(4), 12);
  });

  it('is exactly 0 where policy and teacher are one', () => {
    for (const p of [0.9, 0.25, 1e-30])
      expect(tokenWeight(objective(), logs(p, p * 1.5, p), 0)).toMatchObject({ advantage: 0, weight: 0 });
  });

  it('drops tokens whose ratio is outside, the edges being within', () => {
    const at = (rho: number) => tokenWeight(objective(), logs(0.25 * rho, 0.25, 0.75), 0);
    // Powers of two: their logarithms' difference is exact enough for exp to give them back.
    expect(Math.exp(Math.log(0.5) - Math.log(0.25))).toBe(2);
    expect(at(2)).toMatchObject({ gated: false });
    expect(at(2).weight).toBeCloseTo(2 * Math.log(0.75 / 0.5), 12);
    expect(at(0.5)).toMatchObject({ gated: false });
    expect(at(0.5).weight).toBeCloseTo(0.5 * Math.log(0.75 / 0.125), 12);
    expect(at(2.0001)).toMatchObject({ gated: true, weight: 0 });
    expect(at(0.4999)).toMatchObject({ gated: true, weight: 0 });
    // A ratio that overflows, and one of a token that the trainer finds impossible.
    expect(tokenWeight(objective(), { train: 0, sampler: -1e4, teacher: -1 }, 0)).toMatchObject({
      weight: 0,
    });
    expect(tokenWeight(objective(), { train: -1e4, sampler: 0, teacher: -1 }, 0)).toMatchObject({
      weight: 0,
    });
    // The gate knows no reward either.
    expect(tokenWeight(objective({ reward_weight: 1 }), logs(0.75, 0.25, 0.5), 3)).toMatchObject({
      weight: 0,
    });
  });

  it('hides nothing that is no number', () => {
    expect(tokenWeight(objective(), { train: NaN, sampler: -1, teacher: -1 }, 0).weight).toBeNaN();
  });

  it('has the bounds that the stage gives', () => {
    const narrow = objective({ ratio: { lowest: 1, highest: 1 } });
    expect(tokenWeight(narrow, logs(0.25, 0.25, 0.5), 0).weight).toBeCloseTo(Math.LN2, 12);
    expect(tokenWeight(narrow, logs(0.26, 0.25, 0.5), 0).weight).toBe(0);
    const open = objective({ ratio: { lowest: 0, highest: 1e9 } });
    expect(tokenWeight(open, logs(0.75, 0.01, 0.5), 0).weight).toBeCloseTo(75 * Math.log(0.5 / 0.75), 9);
  });

  it('clamps the ratio where the stage says so, and still tells that it was outside', () => {
    const clipped = objective({ ratio: { outside: 'clip' } });
    // rho = 3, clamped to 2; rho = 0.25, clamped to 0.5.
    const high = tokenWeight(clipped, logs(0.75, 0.25, 0.5), 0);
    expect(high.gated).toBe(true);
    expect(high.weight).toBeCloseTo(2 * Math.log(0.5 / 0.75), 12);
    expect(tokenWeight(clipped, logs(0.1, 0.4, 0.2), 0).weight).toBeCloseTo(0.5 * Math.LN2, 12);
  });

  it('clips advantages on either side, before the reward joins them', () => {
    const clipped = objective({ advantage_clip: 0.5, reward_weight: 2 });
    // ln(0.1 / 0.8) = -2.08, clipped to -0.5; 2 * 0.75 = 1.5 joins it: 1.
    expect(tokenWeight(clipped, logs(0.8, 0.8, 0.1), 0.75).weight).toBeCloseTo(1, 12);
    expect(tokenWeight(clipped, logs(0.1, 0.1, 0.8), 0).weight).toBeCloseTo(0.5, 12);
    expect(tokenWeight(clipped, logs(0.1, 0.1, 0.8), -1).weight).toBeCloseTo(-1.5, 12);
  });
});

describe('normalizersOf', () => {
  const pairs = [3, 1, 4].map((length) => ({ prompt: Int32Array.of(1), response: new Int32Array(length) }));

  it('has tokens of the response * responses in the sequence mean: every response weighs alike', () => {
    expect(normalizersOf('sequence_mean', pairs)).toEqual([9, 3, 12]);
  });

  it('has all tokens in the token mean', () => {
    expect(normalizersOf('token_mean', pairs)).toEqual([8, 8, 8]);
  });
});
