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
import { emitCausalSoftmax } from './softmax.ts';

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
      const rowSums = reduceSum(mul(g, context), [-1], true);
      const dScores = mul(sub(matmul(g, swapLastTwo(v)), rowSums), probabilities);
      return [matmul(dScores, k), matmul(swapLastTwo(dScores), q), matmul(swapLastTwo(probabilities), g)];
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
