// The budgets that a learner has where it is given none. How many tokens a micro-batch may hold is a function of the
// model's shape alone: a resumed run must cut its batches as the first one did. The memory is the machine's, and
// matters only where such a micro-batch would not fit.

import { totalmem } from 'node:os';
import type { DecoderConfig } from '../models/config.ts';

/** Kept activations of a micro-batch stay near this many bytes. */
const activationBytes = 1 << 30;
/** The length that attention scores are reckoned with; longer sequences are fewer to a micro-batch, but each costs more. */
const typicalLength = 512;
const largest = 16_384;

export function defaultTokenBudget(config: DecoderConfig): number {
  const { hiddenSize: D, intermediateSize: F, heads, kvHeads, headSize, layers } = config;
  const perLayer = 5 * D + 3 * F + (2 * heads + 2 * kvHeads) * headSize + heads * typicalLength;
  const tokens = activationBytes / Float32Array.BYTES_PER_ELEMENT / (layers * perLayer);
  return Math.max(1, Math.min(largest, 2 ** Math.floor(Math.log2(tokens))));
}

/** Weights, gradients and two moments. */
const bytesPerParameter = 16;

/**
 * Bytes for activations: half of what parameters leave of the memory, rounded down to a power of two so that machines
 * of one size agree. At least 256 MB: whether a model fits at all is not decided here.
 */
export function defaultMemoryBytes(parameterCount: number, memory = availableMemory()): number {
  const left = (memory - bytesPerParameter * parameterCount) / 2;
  return 2 ** Math.floor(Math.log2(Math.max(1 << 28, left)));
}

/** The container's limit where there is one. */
export function availableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
