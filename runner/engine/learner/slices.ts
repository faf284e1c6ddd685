// A block runs over a micro-batch in slices of a few sequences, so that what it makes between its products stays in
// the cache. 8 x 256 tokens at width 512, share of the product rate of a whole step: slices of 8 sequences 0.72,
// of 4 0.75, of 2 and 1 0.70 (each slice reads all weights and gradients once more).

import type { DecoderConfig } from '../models/config.ts';

/** Elements of the widest intermediate of a slice: 8 MB. */
const cachedElements = 1 << 21;
/** Below this many tokens the products lose more than the cache gains: each slice reads all weights. */
const fewestTokens = 256;

/** Sequences of a slice: a divisor of `batch`, at least 1. */
export function sliceBatch(
  { intermediateSize, heads }: DecoderConfig,
  batch: number,
  length: number,
): number {
  const tokens = Math.max(fewestTokens, cachedElements / Math.max(intermediateSize, heads * length));
  const most = Math.max(1, Math.min(batch, Math.floor(tokens / length)));
  for (let sequences = most; sequences > 1; sequences--) if (batch % sequences === 0) return sequences;
  return 1;
}

/** Rows of a chunk of one long sequence of `length` tokens, by the same measure: a divisor of the length. */
export function rowChunk({ intermediateSize }: DecoderConfig, length: number): number {
  const most = Math.max(fewestTokens, cachedElements / intermediateSize);
  let chunks = Math.max(1, Math.ceil(length / most));
  while (length % chunks !== 0) chunks += 1;
  return length / chunks;
}
