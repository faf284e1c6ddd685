// How the sequences of each padded length are trained: how many rows at once, whether blocks keep what their backward
// needs or recompute it from their inputs, and whether attention runs whole or over chunks of the queries.
// A pure function of model, lengths and budgets, so that it can be recorded, tested and repeated by a resumed run.

import type { DecoderConfig } from '../models/config.ts';
import { headChunkSize } from './head-definition.ts';
import { bucketLength } from './micro-batches.ts';
import { rowChunk, sliceBatch } from './slices.ts';

export type Activations = 'kept' | 'recomputed';

export interface LengthPlan {
  /** Padded length, S. */
  readonly length: number;
  /** How many of the sequences have this padded length. */
  readonly sequences: number;
  /** Most rows of a micro-batch: a power of two. */
  readonly rows: number;
  readonly activations: Activations;
  /** Queries of an attention chunk, a divisor of S; null: attention is whole, inside the block. */
  readonly attentionChunk: number | null;
  /** What activations and head take in such a micro-batch, weights and their moments apart; above the budget where one row alone is. */
  readonly bytes: number;
}

export interface MemoryBudget {
  /** For activations and head: what weights, gradients and moments leave. */
  readonly memoryBytes: number;
  /** Bounds rows x padded length, except where a single sequence is longer. */
  readonly tokenBudget: number;
  /** Set by those who measure or compare; otherwise the budget decides. */
  readonly activations?: Activations | undefined;
  /** Set by those who measure or compare: attention runs over chunks of at most that many queries at every length. */
  readonly attentionChunk?: number | undefined;
  /** Blocks run over a micro-batch in slices for the cache's sake (default), or, on a device, in one piece. */
  readonly sliced?: boolean | undefined;
}

/** Elements of one sequence's scores above which attention runs over query chunks: 64 MB. */
const wholeScores = 1 << 24;
/** Elements of a chunk's scores, of which its backward holds about four. */
const chunkScores = 1 << 22;
/** Below this many queries a chunk's products are too thin. */
const fewestQueries = 64;
/** Micro-batches of fewer tokens lose more by reading all weights than recomputing costs. */
const worthwhileTokens = 2048;
const bytesOf = Float32Array.BYTES_PER_ELEMENT;

/** One plan a padded length, in ascending order. */
export function planMicroBatches(
  config: DecoderConfig,
  lengths: readonly number[],
  budget: MemoryBudget,
): LengthPlan[] {
  const counts = new Map<number, number>();
  for (const length of lengths) {
    const S = bucketLength(length);
    counts.set(S, (counts.get(S) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([length, sequences]) => planLength(config, length, sequences, budget));
}

function planLength(config: DecoderConfig, S: number, sequences: number, budget: MemoryBudget): LengthPlan {
  const attentionChunk = chunkOf(config, S, budget.attentionChunk);
  // Without views long sequences run one by one.
  const alone = attentionChunk !== null && budget.sliced === false;
  const largest = alone ? 1 : Math.min(powerBelow(budget.tokenBudget / S), powerAbove(sequences));
  const bytes = (rows: number, activations: Activations): number =>
    microBatchBytes(config, { rows, length: S, activations, attentionChunk, sliced: budget.sliced });
  const plan = (rows: number, activations: Activations): LengthPlan => ({
    length: S,
    sequences,
    rows,
    activations,
    attentionChunk,
    bytes: bytes(rows, activations),
  });
  // A chunked block never keeps: probabilities, the largest part, are not there to be kept.
  const preferred = attentionChunk === null ? (budget.activations ?? 'kept') : 'recomputed';
  const forced = attentionChunk !== null || budget.activations !== undefined;
  if (!forced) {
    const fewest = Math.min(largest, powerBelow(worthwhileTokens / S));
    for (let rows = largest; rows >= fewest; rows /= 2)
      if (bytes(rows, 'kept') <= budget.memoryBytes) return plan(rows, 'kept');
  }
  const activations = forced ? preferred : 'recomputed';
  let rows = largest;
  while (rows > 1 && bytes(rows, activations) > budget.memoryBytes) rows /= 2;
  return plan(rows, activations);
}

function chunkOf({ heads }: DecoderConfig, S: number, most: number | undefined): number | null {
  if (most === undefined && heads * S * S <= wholeScores) return null;
  const limit = most ?? Math.max(fewestQueries, chunkScores / (heads * S));
  return largestDivisor(S, limit);
}

/** Of S, at most `limit`. */
function largestDivisor(S: number, limit: number): number {
  let parts = Math.max(1, Math.ceil(S / limit));
  while (S % parts !== 0) parts += 1;
  return S / parts;
}

type Shape = Pick<LengthPlan, 'length' | 'rows' | 'activations' | 'attentionChunk'> &
  Pick<MemoryBudget, 'sliced'>;

/** Bytes of hidden states, of what blocks keep or make on the way, and of the head's chunk. */
export function microBatchBytes(config: DecoderConfig, shape: Shape): number {
  const { hiddenSize: D, intermediateSize: F, heads: H, kvHeads: KV, headSize: hd, layers: L } = config;
  const { length: S, rows, activations, attentionChunk, sliced = true } = shape;
  const tokens = rows * S;
  const perToken = 5 * D + 3 * F + (config.qkNorm ? 3 : 2) * (H + KV) * hd;
  // x_0 to x_L and two cotangents.
  const hidden = (L + 3) * D * tokens;
  const head = headChunkSize(tokens, config.vocabSize) * (4 * config.vocabSize + 3 * D);
  if (attentionChunk !== null) {
    const projected = 4 * (H + KV) * hd * S;
    const scores = 4 * H * attentionChunk * S;
    return (
      bytesOf *
      (hidden + projected + Math.max(scores, 2 * perToken * (sliced ? rowChunk(config, S) : S)) + head)
    );
  }
  const block = (perToken + H * S) * S;
  const blocks = activations === 'kept' ? L * block * rows : 0;
  return bytesOf * (hidden + blocks + 2 * block * (sliced ? sliceBatch(config, rows, S) : rows) + head);
}

const powerBelow = (x: number): number => 2 ** Math.floor(Math.log2(Math.max(1, x)));
const powerAbove = (x: number): number => 2 ** Math.ceil(Math.log2(x));
