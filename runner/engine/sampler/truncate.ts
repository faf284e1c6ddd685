// The draw from a truncated distribution: temperature, then top-k, top-p and min-p in this order, then renormalisation.
//  top-k keeps the k likeliest words (of equal ones those with the lower id);
//  top-p keeps the fewest of the likeliest whose share of what top-k left reaches p, one word at least;
//  min-p keeps the words at least min-p times as likely as the likeliest.
// What is kept is a prefix of the words in order of likelihood, so that only the likeliest `width` words are sorted. A row
// that may keep more says so in `beyond`; the step is then run again over the whole vocabulary, to the same tokens.
import type { Value } from '../graph/graph.ts';
import { mul, sub } from '../ops/arithmetic.ts';
import { and, cast, less, not, where } from '../ops/compare.ts';
import { gatherElements } from '../ops/gather.ts';
import { topk } from '../ops/reduce.ts';
import { reshape } from '../ops/shape.ts';
import { slice } from '../ops/slice.ts';
import { exp, log } from '../ops/unary.ts';
import type { Drawn } from './draw.ts';
import { chunkSize, levels, massBefore, pick } from './two-level.ts';

export interface Truncation {
  /** int32 scalar: words kept at most, at most `width` unless it is the vocabulary's size or more (no limit). */
  readonly topK: Value;
  /** float scalar; above 1 is no limit, where 1 could lose words to rounding. */
  readonly topP: Value;
  /** float scalar; 0 is no limit. */
  readonly minP: Value;
}

export interface TruncatedDraw extends Drawn {
  /** [B]: log-probability under the truncated distribution. */
  readonly samplingLogProbs: Value;
  /** [B]: above 0 where the last of the `width` words was kept, so that a wider draw might keep more. */
  readonly beyond: Value;
}

/** logits [B,V], uniform [B,1] in (0,1), inverse temperature (scalar); `width` at most V. */
export function drawTruncated(
  logits: Value,
  uniform: Value,
  inverseTemperature: Value,
  { topK, topP, minP }: Truncation,
  width: number,
): TruncatedDraw {
  const { graph } = logits;
  const [B, V] = logits.shape as [number, number];
  // One chunk size whatever the width: the sums of a prefix are then the same to the bit.
  const K = chunkSize(V);
  const scaled = mul(logits, inverseTemperature);
  const { values, indices } = topk(scaled, width, 1);
  // WebGPU gathers float32 elements only; ids are below 2^24, which float32 holds exactly.
  const words = cast(indices, 'float32');
  const top = slice(values, 1, 0, 1);
  const mass = exp(sub(values, top));
  const { total } = levels(exp(sub(scaled, top)), K);

  const ranks = graph.constant(
    'int32',
    [1, width],
    Int32Array.from({ length: width }, (_, rank) => rank),
  );
  const inTopK = less(ranks, topK);
  const likeliest = levels(where(inTopK, mass, 0), K);
  const left = where(less(topK, graph.scalar(V, 'int32')), likeliest.total, total);
  const inTopP = less(massBefore(likeliest, width), mul(left, topP));
  const kept_BK = where(and(and(inTopK, inTopP), not(less(mass, minP))), mass, 0);

  const kept = levels(kept_BK, K);
  const rank = pick(kept, uniform);
  const distance = sub(gatherElements(values, rank, 1), top);
  return {
    tokens: reshape(cast(gatherElements(words, rank, 1), 'int32'), [B]),
    logProbs: reshape(sub(distance, log(total)), [B]),
    samplingLogProbs: reshape(sub(distance, log(kept.total)), [B]),
    beyond: reshape(slice(kept_BK, 1, width - 1, width), [B]),
  };
}
