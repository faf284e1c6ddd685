// Which rows of the hidden states the head looks at: one for every scored token, that of the token before it.
// Decided by lengths alone, never by token ids: a padding id may be the end id, or occur in a prompt.

import type { HeadRows } from './head.ts';
import type { MicroBatch } from './micro-batches.ts';

/** Rows in order of (sequence, token). Throws where a token before `scoredFrom` has a weight: it would be lost. */
export function scoredRows({
  B,
  S,
  tokens_BS,
  weights_BS,
  lengths_B,
  scoredFrom_B,
  rows,
}: MicroBatch): HeadRows {
  const at: number[] = [];
  for (let b = 0; b < B; b++) {
    const begin = Math.max(1, scoredFrom_B[b]!);
    const stray = weights_BS.subarray(b * S, b * S + begin).findIndex((weight) => weight !== 0);
    if (stray >= 0)
      throw new Error(
        `sequence ${rows[b]}: token ${stray} has a weight, but only tokens from ${begin} on are scored`,
      );
    for (let t = begin; t < lengths_B[b]!; t++) at.push(b * S + t);
  }
  return {
    rows_R: Int32Array.from(at, (token) => token - 1),
    targets_R: Int32Array.from(at, (token) => tokens_BS[token]!),
    weights_R: Float32Array.from(at, (token) => weights_BS[token]!),
  };
}
