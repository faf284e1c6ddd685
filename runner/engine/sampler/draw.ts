// The draw inside the graph: one token a row from softmax(logits / T) by a uniform number a row, or the likeliest.
// Nothing is truncated here: truncate.ts does that.
import type { Value } from '../graph/graph.ts';
import { mul, sub } from '../ops/arithmetic.ts';
import { reduceSum } from '../ops/broadcast.ts';
import { gatherElements } from '../ops/gather.ts';
import { argmax, reduceMax } from '../ops/reduce.ts';
import { reshape } from '../ops/shape.ts';
import { exp, log } from '../ops/unary.ts';
import { chunkSize, levels, pick } from './two-level.ts';

export interface Drawn {
  /** [B] int32. */
  readonly tokens: Value;
  /** [B]: log-probability under softmax(logits / T). */
  readonly logProbs: Value;
}

/** logits [B,V], uniform [B,1] in (0,1), inverse temperature (scalar). */
export function drawTokens(logits: Value, uniform: Value, inverseTemperature: Value): Drawn {
  const [B, V] = logits.shape as [number, number];
  const scaled = mul(logits, inverseTemperature);
  const top = reduceMax(scaled, [1], true);
  const mass = levels(exp(sub(scaled, top)), chunkSize(V));
  const tokens = pick(mass, uniform);
  const logProbs = sub(sub(gatherElements(scaled, tokens, 1), top), log(mass.total));
  return { tokens: reshape(tokens, [B]), logProbs: reshape(logProbs, [B]) };
}

/** The likeliest token of each row, with its log-probability under softmax(logits). */
export function greedyTokens(logits: Value): Drawn {
  const tokens = argmax(logits, 1);
  return { tokens, logProbs: logProbsOf(logits, tokens) };
}

/** [B]: log-probabilities of tokens [B] under softmax(logits [B,V]). */
export function logProbsOf(logits: Value, tokens: Value): Value {
  const [B] = logits.shape as [number, number];
  const top = reduceMax(logits, [1], true);
  const total = reduceSum(exp(sub(logits, top)), [1], true);
  const chosen = gatherElements(logits, reshape(tokens, [B, 1]), 1);
  return reshape(sub(sub(chosen, top), log(total)), [B]);
}
