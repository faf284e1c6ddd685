// Bytes of activations when one sequence is trained and its blocks recompute in their backward: the least that training
// takes beside weights and moments. The figures are those that the engine's memory plan books for a micro-batch of one
// row (runner/engine/learner/memory-plan.ts), which this folder may not import: a test compares the two.
// All in float32. S: padded length; D, F, L, H, KV, hd, V as in ModelSizes.
import type { ModelSizes } from '../model-shape.ts';

const f32 = 4;

/** Padded length: steps of 8 up to 64, then of an eighth of the power of two below. */
export function paddedLength(tokens: number): number {
  const step = Math.max(8, 2 ** Math.floor(Math.log2(Math.max(1, tokens - 1))) / 8);
  return Math.max(8, Math.ceil(tokens / step) * step);
}

/** What every block reads, kept for its backward: grows with depth. */
export const blockInputBytes = ({ layers, hiddenSize: D }: ModelSizes, S: number): number =>
  f32 * layers * D * S;

/** The last hidden state and two gradients of hidden states. */
export const hiddenEndBytes = ({ hiddenSize: D }: ModelSizes, S: number): number => f32 * 3 * D * S;

/** Intermediates of one block that runs over the sequence whole, without attention scores, as measured for Qwen3. */
export function wholeBlockBytes(sizes: ModelSizes, S: number): number {
  const { hiddenSize: D, intermediateSize: F, heads: H, kvHeads: KV, headSize: hd } = sizes;
  return f32 * (4 * D + 5 * F + (3 * H + 4 * KV) * hd) * S;
}

/** Elements of one sequence's scores above which attention runs over chunks of queries. */
const wholeScores = 1 << 24;
const chunkScores = 1 << 22;
const fewestQueries = 64;
const cachedElements = 1 << 21;
const fewestTokens = 256;
const logitElements = 1 << 24;
const mostHeadRows = 4096;

/** Intermediates of one block as it runs: whole with its scores, or in chunks of rows and of queries where it is long. */
export function blockBytes(sizes: ModelSizes, S: number): number {
  const { hiddenSize: D, intermediateSize: F, heads: H, kvHeads: KV, headSize: hd } = sizes;
  const norms = sizes.modelType === 'qwen3' ? 3 : 2;
  const perToken = 5 * D + 3 * F + norms * (H + KV) * hd;
  if (H * S * S <= wholeScores) return f32 * 2 * (perToken + H * S) * S;
  const queries = divisor(S, Math.max(fewestQueries, chunkScores / (H * S)));
  const rows = divisor(S, Math.max(fewestTokens, cachedElements / F));
  return f32 * (4 * (H + KV) * hd * S + Math.max(4 * H * queries * S, 2 * perToken * rows));
}

/** The largest divisor of S that is at most `limit`. */
function divisor(S: number, limit: number): number {
  let parts = Math.max(1, Math.ceil(S / limit));
  while (S % parts !== 0) parts += 1;
  return S / parts;
}

/** Logits of one chunk of the head's rows, of which a backward holds about four; of a scalar head one row's state. */
export function headBytes({ vocabSize: V, hiddenSize: D, scalarHead }: ModelSizes, S: number): number {
  if (scalarHead) return f32 * 3 * D;
  const largest = Math.min(mostHeadRows, Math.max(16, 2 ** Math.floor(Math.log2(logitElements / V))));
  const step = Math.max(16, 2 ** Math.floor(Math.log2(S)) / 4);
  const rows = S >= largest ? largest : Math.ceil(S / step) * step;
  return f32 * rows * (4 * V + 3 * D);
}
