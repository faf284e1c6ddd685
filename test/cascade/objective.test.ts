// Token weights by hand: mask, N, excluded rollouts, and that cutting a batch cannot change them.
import { describe, expect, it } from 'vitest';
import { sftWeights, tokenMean } from '../../runner/cascade/objective.ts';

const ids = (...tokens: number[]) => Int32Array.from(tokens);

describe('tokenMean', () => {
  it('gives A / N to response tokens and 0 to prompt tokens', () => {
    // N = 3 + 1 = 4
    const [first, second] = tokenMean([
      { prompt: ids(5, 6), response: ids(7, 8, 1), advantage: 2 },
      { prompt: ids(9), response: ids(1), advantage: -0.5 },
    ]);
    expect([...(first?.tokens_T ?? [])]).toEqual([5, 6, 7, 8, 1]);
    expect([...(first?.weights_T ?? [])]).toEqual([0, 0, 0.5, 0.5, 0.5]);
    expect([...(second?.weights_T ?? [])]).toEqual([0, -0.125]);
  });

  it('counts tokens of zero-variance groups in N, and those without an advantage in neither', () => {
    const weighted = tokenMean([
      { prompt: ids(1), response: ids(2, 3), advantage: 1 },
      { prompt: ids(1), response: ids(2, 3), advantage: 0 },
      { prompt: ids(1), response: ids(2, 3, 4, 5, 6), advantage: null },
    ]);
    expect(weighted).toHaveLength(2);
    expect([...(weighted[0]?.weights_T ?? [])]).toEqual([0, 0.25, 0.25]);
    expect([...(weighted[1]?.weights_T ?? [])]).toEqual([0, 0, 0]);
  });

  it('is empty when no token is left', () => {
    expect(tokenMean([{ prompt: ids(1), response: ids(2), advantage: null }])).toEqual([]);
    expect(tokenMean([{ prompt: ids(1), response: ids(), advantage: 1 }])).toEqual([]);
  });

  it('takes its mask from lengths: end, padding and id 0 inside prompt or response are tokens like any other', () => {
    const [sequence] = tokenMean([{ prompt: ids(0, 1, 2), response: ids(2, 0, 1), advantage: 3 }]);
    expect([...(sequence?.weights_T ?? [])]).toEqual([0, 0, 0, 1, 1, 1]);
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
