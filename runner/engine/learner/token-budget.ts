// How many tokens a micro-batch may hold, from what a block keeps of each for its backward.
// A function of the model's shape alone: a resumed run must cut its batches as the first one did.

import type { LlamaConfig } from '../models/config.ts';

/** Activations of a micro-batch stay near this many bytes. */
const activationBytes = 1 << 30;
/** The length that attention scores are reckoned with; longer sequences are fewer to a micro-batch, but each costs more. */
const typicalLength = 512;
const largest = 16_384;

export function defaultTokenBudget(config: LlamaConfig): number {
  const { hiddenSize: D, intermediateSize: F, heads, kvHeads, headSize, layers } = config;
  const perLayer = 5 * D + 3 * F + (2 * heads + 2 * kvHeads) * headSize + heads * typicalLength;
  const tokens = activationBytes / Float32Array.BYTES_PER_ELEMENT / (layers * perLayer);
  return Math.max(1, Math.min(largest, 2 ** Math.floor(Math.log2(tokens))));
}
