// From advantages to the ascent weight of every token. The convention of the whole trainer:
//   loss = - sum over tokens of sg[w_t] * log pi(y_t),
// so an objective is nothing but its weights, and N, the number of tokens that count, is taken over the whole
// optimizer batch: however it is cut into micro-batches, the gradient is the same.

import type { ExpandedReinforcedStage } from '../../api/contract/expand.ts';
import type { WeightedSequence } from '../engine/learner/micro-batches.ts';

/** How the tokens of a batch share in its loss. */
export type Loss = ExpandedReinforcedStage['loss'];

/** A prompt and its response, by token ids. The mask comes from these lengths, never from looking for an id. */
export interface TokenPair {
  readonly prompt: Int32Array;
  readonly response: Int32Array;
}

/** A response with its advantage; null takes it out of the loss and out of N. */
export interface AdvantagedPair extends TokenPair {
  readonly advantage: number | null;
  /** Of every response token, what is added to its advantage: the pull of a KL penalty (rl/kl.ts). */
  readonly pull_T?: Float64Array | undefined;
}

/** SFT: w = mask / N. */
export function sftWeights(pairs: readonly TokenPair[]): WeightedSequence[] {
  return ascentWeights(
    'token_mean',
    pairs.map((pair) => ({ ...pair, advantage: 1 })),
  );
}

/**
 * GRPO with one update for each rollout batch (ratio 1): w = (A + pull) * mask * share. A token's share is 1 / N in the batch-wide
 * token mean, 1 / (valid tokens of its response * number of sequences) in the sequence mean. Zero-variance groups (A = 0) stay in
 * N and in the number of sequences. Sequences without an advantage are left out; the result is empty when none is left.
 */
export function ascentWeights(loss: Loss, pairs: readonly AdvantagedPair[]): WeightedSequence[] {
  const counted = pairs.filter((pair) => pair.advantage !== null && pair.response.length > 0);
  const normalizers = normalizersOf(loss, counted);
  return counted.map((pair, i) =>
    weightedSequence(pair, (t) => ((pair.advantage ?? 0) + (pair.pull_T?.[t] ?? 0)) / normalizers[i]!),
  );
}

/** Of each response, by what the weights of its tokens are divided. */
export function normalizersOf(loss: Loss, pairs: readonly TokenPair[]): number[] {
  const N = pairs.reduce((total, { response }) => total + response.length, 0);
  return pairs.map(({ response }) => (loss === 'token_mean' ? N : response.length * pairs.length));
}

/** `weightOf` is asked for every token of the response, by its place in it. */
export function weightedSequence(
  { prompt, response }: TokenPair,
  weightOf: (t: number) => number,
): WeightedSequence {
  const tokens_T = new Int32Array(prompt.length + response.length);
  tokens_T.set(prompt);
  tokens_T.set(response, prompt.length);
  const weights_T = new Float32Array(tokens_T.length);
  for (let t = 0; t < response.length; t += 1) weights_T[prompt.length + t] = weightOf(t);
  return { tokens_T, weights_T, scoredFrom: prompt.length };
}
