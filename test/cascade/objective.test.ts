// Token weights by hand: mask, N, excluded rollouts, and that cutting a batch cannot change them.
import { describe, expect, it } from 'vitest';
import { sftWeights, ascentWeights } from '../../runner/cascade/objective.ts';

const ids = (...tokens: number[]) => Int32Array.from(tokens);

describe('ascentWeights, token mean', () => {
  it('gives A / N to response tokens and 0 to prompt tokens', () => {
    // N = 3 + 1 = 4
    const [first, second] = ascentWeights('token_mean', [
      { prompt: ids(5, 6), response: ids(7, 8, 1), advantage: 2 },
      { prompt: ids(9), response: ids(1), advantage: -0.5 },
    ]);
    expect([...(first?.tokens_T ?? [])]).toEqual([5, 6, 7, 8, 1]);
    expect([...(first?.weights_T ?? [])]).toEqual([0, 0, 0.5, 0.5, 0.5]);
    expect([...(second?.weights_T ?? [])]).toEqual([0, -0.125]);
  });

  it('counts tokens of zero-variance groups in N, and those without an advantage in neither', () => {
    const weighted = ascentWeights('token_mean', [
      { prompt: ids(1), response: ids(2, 3), advantage: 1 },
      { prompt: ids(1), response: ids(2, 3), advantage: 0 },
      { prompt: ids(1), response: ids(2, 3, 4, 5, 6), advantage: null },
    ]);
    expect(weighted).toHaveLength(2);
    expect([...(weighted[0]?.weights_T ?? [])]).toEqual([0, 0.25, 0.25]);
    expect([...(weighted[1]?.weights_T ?? [])]).toEqual([0, 0, 0]);
  });

  it('is empty when no token is left', () => {
    expect(ascentWeights('token_mean', [{ prompt: ids(1), response: ids(2), advantage: null }])).toEqual([]);
    expect(ascentWeights('token_mean', [{ prompt: ids(1), response: ids(), advantage: 1 }])).toEqual([]);
  });

  it('takes its mask from lengths: end, padding and id 0 inside prompt or response are tokens like any other', () => {
    const [sequence] = ascentWeights('token_mean', [
      { prompt: ids(0, 1, 2), response: ids(2, 0, 1), advantage: 3 },
    ]);
    expect([...(sequence?.weights_T ?? [])]).toEqual([0, 0, 0, 1, 1, 1]);
  });
});

describe('ascentWeights, sequence mean', () => {
  it('gives A / (valid tokens of the response * number of sequences): every response weighs alike', () => {
    const weights = ascentWeights('sequence_mean', [
      { prompt: ids(5, 6), response: ids(7, 8, 1, 1), advantage: 2 },
      { prompt: ids(9), response: ids(1), advantage: -0.5 },
      { prompt: ids(9), response: ids(1, 1), advantage: 0 },
      { prompt: ids(9), response: ids(1, 1), advantage: null },
      { prompt: ids(9), response: ids(), advantage: 1 },
    ]).map(({ weights_T }) => [...weights_T]);
    // Three sequences count, the one without variance among them: 2 / (4 * 3), -0.5 / (1 * 3), 0.
    const expected = [
      [0, 0, 1 / 6, 1 / 6, 1 / 6, 1 / 6],
      [0, -1 / 6],
      [0, 0, 0],
    ];
    expect(weights).toEqual(expected.map((row) => [...Float32Array.from(row)]));
  });

  it('is the token mean where all responses are equally long', () => {
    const pairs = [1, -1, 0.5].map((advantage) => ({ prompt: ids(1), response: ids(2, 3), advantage }));
    expect(ascentWeights('sequence_mean', pairs)).toEqual(ascentWeights('token_mean', pairs));
  });
});

describe('sftWeights', () => {
  it('gives 1 / N to every response token of the batch', () => {
    const weights = sftWeights([
      { prompt: ids(4), response: ids(5, 1) },
      { prompt: ids(4, 4), response: ids(1, 1) },
    ]);
    expect(weights.map(({ weights_T }) => [...weights_T])).toEqual([
      [0, 0.25, 0.25],
      [0, 0, 0.25, 0.25],
    ]);
  });
});
