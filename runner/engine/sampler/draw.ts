// The draw inside the graph: one token a row from softmax(logits / T) by a uniform number a row.
// Two levels, chunks of the vocabulary and then inside one chunk: a flat cumulative sum over a large vocabulary in float32
// picks other tokens than exact arithmetic would in a quarter of the draws, and is slow on some devices.
import type { Value } from '../graph/graph.ts';
import { add, mul, sub } from '../ops/arithmetic.ts';
import { expand, reduceSum } from '../ops/broadcast.ts';
import { cast, less, where } from '../ops/compare.ts';
import { gatherElements, gatherRows } from '../ops/gather.ts';
import { argmax, cumsum, reduceMax } from '../ops/reduce.ts';
import { reshape } from '../ops/shape.ts';
import { concat, slice } from '../ops/slice.ts';
import { exp, log } from '../ops/unary.ts';

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
  const mass = exp(sub(scaled, top));
  const K = chunkSize(V);
  const C = Math.ceil(V / K);
  const chunks = reshape(padded(mass, C * K), [B, C, K]);
  const upper = cumsum(reduceSum(chunks, [2]), 1);
  const total = slice(upper, 1, C - 1, C);
  const target = mul(uniform, total);
  const chunk = countBelow(upper, target);
  const start = gatherElements(concat([zeroColumn(upper), upper], 1), chunk, 1);
  const rows = add(reshape(rowStarts(logits, B, C), [B, 1]), chunk);
  const inner = cumsum(gatherRows(reshape(chunks, [B * C, K]), reshape(rows, [B])), 1);
  // Rounding may leave the remainder a hair beyond the chunk's own sum: never past its last word with any mass.
  const within = countBelow(inner, atMost(sub(target, start), slice(inner, 1, K - 1, K)));
  const tokens = add(mul(chunk, chunk.graph.scalar(K, 'int32')), within);
  const logProbs = sub(sub(gatherElements(scaled, tokens, 1), top), log(total));
  return { tokens: reshape(tokens, [B]), logProbs: reshape(logProbs, [B]) };
}

/** The likeliest token of each row, with its log-probability under softmax(logits). */
export function greedyTokens(logits: Value): Drawn {
  const [B] = logits.shape as [number, number];
  const tokens = reshape(cast(argmax(logits, 1), 'int32'), [B, 1]);
  const top = reduceMax(logits, [1], true);
  const total = reduceSum(exp(sub(logits, top)), [1], true);
  const logProbs = sub(sub(gatherElements(logits, tokens, 1), top), log(total));
  return { tokens: reshape(tokens, [B]), logProbs: reshape(logProbs, [B]) };
}

/** About the square root of V, so that both levels sum equally few terms; at most 128. */
const chunkSize = (V: number): number => Math.min(128, 2 ** Math.ceil(Math.log2(Math.sqrt(V))));

/** How many of the ascending values [B,N] lie below x [B,1]: the index of the first that does not, int32 [B,1]. */
const countBelow = (ascending: Value, x: Value): Value =>
  cast(reduceSum(cast(less(ascending, x), 'float32'), [1], true), 'int32');

const atMost = (a: Value, b: Value): Value => where(less(a, b), a, b);

function zeroColumn(like: Value): Value {
  return expand(like.graph.scalar(0), [like.shape[0]!, 1]);
}

function rowStarts(like: Value, B: number, C: number): Value {
  return like.graph.constant(
    'int32',
    [B],
    Int32Array.from({ length: B }, (_, b) => b * C),
  );
}

function padded(x: Value, width: number): Value {
  const [B, V] = x.shape as [number, number];
  return width === V ? x : concat([x, expand(x.graph.scalar(0), [B, width - V])], 1);
}
