// From advantages to the ascent weight of every token. The convention of the whole trainer:
//   loss = - sum over tokens of sg[w_t] * log pi(y_t),
// so an objective is nothing but its weights, and N, the number of tokens that count, is taken over the whole
// optimizer batch: however it is cut into micro-batches, the gradient is the same.

import type { WeightedSequence } from '../engine/learner/micro-batches.ts';

/** A prompt and its response, by token ids. The mask comes from these lengths, never from looking for an id. */
export interface TokenPair {
  readonly prompt: Int32Array;
  readonly response: Int32Array;
}

/** A response with its advantage; null takes it out of the loss and out of N. */
export interface AdvantagedPair extends TokenPair {
  readonly advantage: number | null;
}

/** SFT: w = mask / N. */
export function sftWeights(pairs: readonly TokenPair[]): WeightedSequence[] {
  return tokenMean(pairs.map((pair) => ({ ...pair, advantage: 1 })));
}

/**
 * GRPO with one update for each rollout batch (ratio 1) and the batch-wide token mean: w = A * mask / N.
 * Zero-variance groups (A = 0) stay in N. Sequences without an advantage are left out; the result is empty when none is left.
 */
export function tokenMean(pairs: readonly AdvantagedPair[]): WeightedSequence[] {
  const counted = pairs.filter((pair) => pair.advantage !== null && pair.response.length > 0);
  const N = counted.reduce((total, pair) => total + pair.response.length, 0);
  return counted.map((pair) => weighted(pair, (pair.advantage ?? 0) / N));
}

function weighted({ prompt, response }: TokenPair, weight: number): WeightedSequence {
  const tokens_T = new Int32Array(prompt.length + response.length);
  tokens_T.set(prompt);
  tokens_T.set(response, prompt.length);
  return {
    tokens_T,
    weights_T: new Float32Array(tokens_T.length).fill(weight, prompt.length),
    scoredFrom: prompt.length,
  };
}
