// Causal attention over given queries, keys and values, as one op for the sake of its gradient: the row sums that a
// softmax's gradient needs, <dP, P>, equal <dO, O>, which is hd wide instead of as long as the sequence.
// (Dao et al., "FlashAttention", 2022, appendix B.2.) The probabilities are kept, not recomputed.
import { applyAll } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectRank, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp } from '../graph/op.ts';
import { sameShape, sizeAt } from '../graph/shape.ts';
import { mul, sub } from './arithmetic.ts';
import { reduceSum } from './broadcast.ts';
import { matmul, swapLastTwo } from './matmul.ts';
import { causalSoftmax, emitCausalSoftmax } from './softmax.ts';

const causalAttentionOp = defineOp<undefined>({
  name: 'causal_attention',
  infer(inputs) {
    const [q, k, v] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    for (const x of [q, k, v]) expectRank('causal_attention', x, 4);
    expectFloat('causal_attention', q);
    for (const x of [k, v]) expectSameDType('causal_attention', q, x);
    const stacked =
      sizeAt(q.shape, 2) % sizeAt(k.shape, 2) === 0 && sizeAt(q.shape, 3) === sizeAt(k.shape, 3);
    const fits =
      stacked &&
      sameShape(q.shape.slice(0, 2), k.shape.slice(0, 2)) &&
      sameShape(k.shape.slice(0, 3), v.shape.slice(0, 3));
    expectThat(fits, 'causal_attention', 'q [B,KV,G*S,hd], k [B,KV,S,hd] and v [B,KV,S,hv]', q, k, v);
    const rows = q.shape.slice(0, 3);
    return [
      { dtype: q.dtype, shape: [...rows, sizeAt(v.shape, 3)] },
      { dtype: q.dtype, shape: [...rows, sizeAt(k.shape, 2)] },
    ];
  },
  emit(emitter, { outputs, from, to }) {
    const [q, k, v] = from as [string, string, string];
    const [context, probabilities] = to as [string, string];
    const type = operand(outputs, 1);
    const scores = emitter.node('FusedMatMul', [q, k], {
      domain: 'com.microsoft',
      attributes: { transB: { int: 1 } },
    });
    emitCausalSoftmax(emitter, type, scores, probabilities, { queries: sizeAt(type.shape, 3), offset: 0 });
    emitter.node('MatMul', [probabilities, v], { outputs: [context] });
  },
  gradient: {
    rule({ inputs, outputs }, [g, onProbabilities]) {
      if (!g || onProbabilities)
        throw new Error('internal: causal_attention is differentiated through its context alone');
      const [q, k, v] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
      const [context, probabilities] = [operand(outputs, 0), operand(outputs, 1)];
      return attentionGradients({ q, k, v, context, probabilities }, g);
    },
  },
});

/**
 * softmax(q k^T, causal) v for q [B,KV,G*S,hd] (already scaled; the G query heads of a key head are stacked on rows),
 * k [B,KV,S,hd], v [B,KV,S,hv]: [B,KV,G*S,hv]. Query i of a head sees keys 0 to i.
 */
export function causalAttention(q: Value, k: Value, v: Value): Value {
  const [context] = applyAll(causalAttentionOp, [q, k, v], undefined);
  return context as Value;
}

interface Attended {
  readonly q: Value;
  readonly k: Value;
  readonly v: Value;
  readonly context: Value;
  readonly probabilities: Value;
}

/** Gradients of q, k, v, given that of the context. */
function attentionGradients({ q, k, v, context, probabilities }: Attended, g: Value): [Value, Value, Value] {
  const rowSums = reduceSum(mul(g, context), [-1], true);
  const dScores = mul(sub(matmul(g, swapLastTwo(v)), rowSums), probabilities);
  return [matmul(dScores, k), matmul(swapLastTwo(dScores), q), matmul(swapLastTwo(probabilities), g)];
}

export interface QueryChunk {
  /** [B,KV,G*C,hd], scaled: the C queries of a chunk, head by head. */
  readonly q: Value;
  /** [B,KV,N,hd] and [B,KV,N,hv]: keys from the sequence's begin to at least the last query. */
  readonly k: Value;
  readonly v: Value;
  /** Position of the chunk's first query, int32 []: given at run time, so that one session serves many chunks. */
  readonly offset: Value;
  /** C. */
  readonly queries: number;
}

const chunkProbabilities = ({ q, k, offset, queries }: QueryChunk): Value =>
  causalSoftmax(matmul(q, swapLastTwo(k)), { queries, offset });

/** The same attention for a chunk of the queries: [B,KV,G*C,hv]. Its scores are [B,KV,G*C,N], never S by S. */
export const chunkAttention = (chunk: QueryChunk): Value => matmul(chunkProbabilities(chunk), chunk.v);

/** Gradients of the chunk's q, and its share of those of k and v, from its context and that one's gradient. The softmax is recomputed. */
export function chunkAttentionGradients(chunk: QueryChunk, context: Value, g: Value): [Value, Value, Value] {
  return attentionGradients({ ...chunk, context, probabilities: chunkProbabilities(chunk) }, g);
}
