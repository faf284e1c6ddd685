// Bytes of the sampler's key/value caches: a row for each answer in the making, and one where a group's prompt is computed.
import type { ModelSizes } from '../model-shape.ts';
import { paddedLength } from './activations.ts';

/** Limits of the engine's sampler (runner/engine/sampler/slot-sampler.ts). */
export const slotLimits = { rows: 512, cacheTokens: 131_072 } as const;

/** Keys and values of one token in all layers. */
export const cacheTokenBytes = ({ layers, kvHeads, headSize }: ModelSizes, elementBytes: number): number =>
  2 * layers * kvHeads * headSize * elementBytes;

/** Positions of a row that holds `tokens`. */
export const cacheCapacity = ({ maxPositions }: ModelSizes, tokens: number): number =>
  Math.min(paddedLength(tokens), paddedLength(maxPositions));

/** Rows that are decoded at once where `sequences` of up to `tokens` tokens are wanted. */
export function cacheRows(sizes: ModelSizes, tokens: number, sequences: number): number {
  const within = Math.max(1, Math.floor(slotLimits.cacheTokens / cacheCapacity(sizes, tokens)));
  const most = 2 ** Math.floor(Math.log2(Math.min(slotLimits.rows, within)));
  return Math.min(2 ** Math.ceil(Math.log2(sequences)), most);
}
