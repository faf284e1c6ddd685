// Which rows of the hidden states a head looks at. Decided by lengths alone, never by token ids: a padding id may be the
// end id, or occur in a prompt.

import type { HeadRows } from './head.ts';
import type { MicroBatch } from './micro-batches.ts';

/**
 * One row for every scored token, that of the token before it, in order of (sequence, token); targets and weights [R].
 * Throws where a token before `scoredFrom` has a weight: it would be lost.
 */
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
    inputs: {
      targets: Int32Array.from(at, (token) => tokens_BS[token]!),
      weights: Float32Array.from(at, (token) => weights_BS[token]!),
    },
  };
}

/** Scored tokens of every row of a micro-batch, [B]: how many of `scoredRows` are its own. */
export const scoredCounts = ({ lengths_B, scoredFrom_B, rows }: MicroBatch): readonly number[] =>
  rows.map((_, b) => Math.max(0, lengths_B[b]! - Math.max(1, scoredFrom_B[b]!)));

/** One row for every sequence, that of its last token; `cotangents` [N] by sequence become those of the rows, [R]. */
export function lastRows({ S, lengths_B, rows }: MicroBatch, cotangents: Float32Array): HeadRows {
  return {
    rows_R: Int32Array.from(rows, (_, b) => b * S + lengths_B[b]! - 1),
    inputs: { cotangents: Float32Array.from(rows, (index) => cotangents[index]!) },
  };
}
