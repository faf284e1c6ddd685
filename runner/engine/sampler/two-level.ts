// Cumulative mass in two levels: chunks of a row, then inside a chunk. A flat cumulative sum over a large vocabulary in
// float32 picks other tokens than exact arithmetic would in a quarter of the draws, and is slow on some devices.
import type { Value } from '../graph/graph.ts';
import { add, mul, sub } from '../ops/arithmetic.ts';
import { expand, reduceSum } from '../ops/broadcast.ts';
import { cast, less, where } from '../ops/compare.ts';
import { gatherElements, gatherRows } from '../ops/gather.ts';
import { cumsum } from '../ops/reduce.ts';
import { reshape } from '../ops/shape.ts';
import { concat, slice } from '../ops/slice.ts';

export interface Levels {
  /** [B,C,K]: the row in chunks, zeros after its end. */
  readonly chunks: Value;
  /** [B,C]: mass up to the end of each chunk. */
  readonly upper: Value;
  /** [B,1]. */
  readonly total: Value;
}

/** About the square root of V, so that both levels sum equally few terms; at most 128. */
export const chunkSize = (V: number): number => Math.min(128, 2 ** Math.ceil(Math.log2(Math.sqrt(V))));

/** Non-negative mass [B,N] in chunks of K. */
export function levels(mass: Value, K: number): Levels {
  const [B, N] = mass.shape as [number, number];
  const C = Math.ceil(N / K);
  const chunks = reshape(padded(mass, C * K), [B, C, K]);
  const upper = cumsum(reduceSum(chunks, [2]), 1);
  return { chunks, upper, total: slice(upper, 1, C - 1, C) };
}

/** int32 [B,1]: the first index whose mass, with all before it, reaches the share `uniform` [B,1] of the total. */
export function pick({ chunks, upper, total }: Levels, uniform: Value): Value {
  const [B, C, K] = chunks.shape as [number, number, number];
  const target = mul(uniform, total);
  const chunk = countBelow(upper, target);
  const start = gatherElements(concat([zeroColumn(upper), upper], 1), chunk, 1);
  const rows = add(reshape(rowStarts(chunks, B, C), [B, 1]), chunk);
  const inner = cumsum(gatherRows(reshape(chunks, [B * C, K]), reshape(rows, [B])), 1);
  // Rounding may leave the remainder a hair beyond the chunk's own sum: never past its last word with any mass.
  const within = countBelow(inner, atMost(sub(target, start), slice(inner, 1, K - 1, K)));
  return add(mul(chunk, chunk.graph.scalar(K, 'int32')), within);
}

/** [B,N]: mass before each of the first N elements. */
export function massBefore({ chunks, upper }: Levels, N: number): Value {
  const [B, C, K] = chunks.shape as [number, number, number];
  const starts = C === 1 ? zeroColumn(upper) : concat([zeroColumn(upper), slice(upper, 1, 0, C - 1)], 1);
  const before = add(cumsum(chunks, 2, { exclusive: true }), reshape(starts, [B, C, 1]));
  const row = reshape(before, [B, C * K]);
  return N === C * K ? row : slice(row, 1, 0, N);
}

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
