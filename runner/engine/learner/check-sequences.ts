// What a sequence must be before native code sees it: an id outside the vocabulary would be an index error there,
// without the name of the sequence.

import type { DecoderConfig } from '../models/config.ts';
import type { WeightedSequence } from './micro-batches.ts';

/** Throws with sequence and token on an id that the model does not have, and on lengths that do not fit. */
export function checkSequences(
  sequences: readonly WeightedSequence[],
  { vocabSize, maxPositions }: DecoderConfig,
): void {
  for (const [index, { tokens_T, weights_T }] of sequences.entries()) {
    if (weights_T.length !== tokens_T.length)
      throw new Error(`sequence ${index}: ${tokens_T.length} tokens have ${weights_T.length} weights`);
    if (tokens_T.length > maxPositions)
      throw new Error(
        `sequence ${index}: ${tokens_T.length} tokens, the model has ${maxPositions} positions`,
      );
    const stray = tokens_T.findIndex((id) => id < 0 || id >= vocabSize);
    if (stray >= 0)
      throw new Error(
        `sequence ${index}, token ${stray}: id ${tokens_T[stray]} is outside the model's vocabulary of ${vocabSize}`,
      );
  }
}
