// The scalar head's value of whole sequences, at their last token: what a reward model says of them.

import type { HeadRows, HeadResult } from './head.ts';
import type { LengthPlan } from './memory-plan.ts';
import type { MicroBatch } from './micro-batches.ts';
import type { Passes } from './passes.ts';
import { lastRows } from './scored-rows.ts';

export interface SequenceValues {
  readonly values_N: Float32Array;
  /** How the sequences were run, by padded length. */
  readonly plan: readonly LengthPlan[];
}

/**
 * Values [N] of N sequences. With `cotangents` [N] the gradient of the sum of cotangents * values is added. `passes` must
 * be those of a scalar head.
 */
export async function sequenceValues(
  passes: Passes,
  sequences: readonly Int32Array[],
  cotangents?: Float32Array,
): Promise<SequenceValues> {
  passes.expectHead('scalar head', 'values of sequences');
  if (cotangents !== undefined && cotangents.length !== sequences.length)
    throw new Error(`${sequences.length} sequences have ${cotangents.length} cotangents`);
  const empty = sequences.findIndex((tokens_T) => tokens_T.length === 0);
  if (empty >= 0) throw new Error(`sequence ${empty} has no token, and so no last one to take a value at`);
  const values_N = new Float32Array(sequences.length);
  const given = cotangents ?? new Float32Array(sequences.length);
  const take = ({ rows }: MicroBatch, _: HeadRows, result: HeadResult): void =>
    rows.forEach((index, r) => (values_N[index] = result['values']![r]!));
  const weighted = sequences.map((tokens_T) => ({
    tokens_T,
    weights_T: new Float32Array(tokens_T.length),
  }));
  const rowsOf = (microBatch: MicroBatch): HeadRows => lastRows(microBatch, given);
  const plan = await passes.run(weighted, { scalars: {}, rowsOf, take }, cotangents !== undefined);
  return { values_N, plan };
}
