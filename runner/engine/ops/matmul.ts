// Matrix products: batched matmul and the 2-D gemm that accumulates. Transposes are flags, never copies of weights.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectRank, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import { broadcastShapes, sameShape, sizeAt } from '../graph/shape.ts';
import { sumToShape } from './broadcast.ts';
import { reshape, transpose } from './shape.ts';

const matmulOp = defineOp<undefined>({
  name: 'matmul',
  infer(inputs) {
    const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
    expectFloat('matmul', a);
    expectSameDType('matmul', a, b);
    const ranked = a.shape.length >= 2 && b.shape.length >= 2;
    expectThat(ranked && a.shape.at(-1) === b.shape.at(-2), 'matmul', '[…,M,K] and […,K,N]', a, b);
    const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2), 'matmul');
    return [{ dtype: a.dtype, shape: [...batch, sizeAt(a.shape, -2), sizeAt(b.shape, -1)] }];
  },
  emit: (emitter, { from, to }) => void emitter.node('MatMul', from, { outputs: to }),
  gradient: vjp((g, { inputs }) => {
    const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
    const da = matmul(g, swapLastTwo(b));
    return [sumToShape(da, a.shape), matmulRightGradient(g, a, b)];
  }),
});

/** a […,M,K] times b […,K,N], batch axes broadcast. */
export const matmul = (a: Value, b: Value): Value => apply(matmulOp, [a, b], undefined);

/** Transpose of the last two axes; ONNX Runtime fuses it into the product on the CPU provider. */
export function swapLastTwo(x: Value): Value {
  const axes = x.shape.map((_, axis) => axis);
  const rank = axes.length;
  expectThat(rank >= 2, 'swap_last_two', 'a rank of at least 2', x);
  return transpose(x, [...axes.slice(0, -2), rank - 1, rank - 2]);
}

/** A shared 2-D right side is one large product over all rows, not a batch of products that are summed after. */
function matmulRightGradient(g: Value, a: Value, b: Value): Value {
  if (b.shape.length > 2) return sumToShape(matmul(swapLastTwo(a), g), b.shape);
  const rows = reshape(a, [-1, sizeAt(a.shape, -1)]);
  return gemm(rows, reshape(g, [-1, sizeAt(g.shape, -1)]), { transA: true });
}

interface GemmAttributes {
  readonly transA: boolean;
  readonly transB: boolean;
  readonly alpha: number;
}

export interface GemmOptions extends Partial<GemmAttributes> {
  /** Added to the product (broadcast to its shape): bias, or what is accumulated into. */
  readonly c?: Value;
}

const gemmOp = defineOp<GemmAttributes>({
  name: 'gemm',
  infer(inputs, { transA, transB }) {
    const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
    for (const x of [a, b]) expectRank('gemm', x, 2);
    expectFloat('gemm', a);
    expectSameDType('gemm', a, b);
    const [rows, inner] = transA ? [1, 0] : [0, 1];
    const [innerB, columns] = transB ? [1, 0] : [0, 1];
    const form = `${transA ? '[K,M]' : '[M,K]'} and ${transB ? '[N,K]' : '[K,N]'}`;
    expectThat(a.shape[inner] === b.shape[innerB], 'gemm', form, a, b);
    const shape = [sizeAt(a.shape, rows), sizeAt(b.shape, columns)];
    const c = inputs[2];
    if (c) {
      expectSameDType('gemm', a, c);
      const fits = sameShape(broadcastShapes(c.shape, shape, 'gemm'), shape);
      expectThat(fits, 'gemm', `c that broadcasts to [${shape.join(',')}]`, c);
    }
    return [{ dtype: a.dtype, shape }];
  },
  emit(emitter, { from, to, attributes }) {
    const { transA, transB, alpha } = attributes;
    emitter.node('Gemm', from, {
      outputs: to,
      attributes: {
        transA: { int: transA ? 1 : 0 },
        transB: { int: transB ? 1 : 0 },
        alpha: { float: alpha },
      },
    });
  },
  gradient: vjp((g, { inputs, attributes: { transA, transB, alpha } }) => {
    const [a, b, c] = [operand(inputs, 0), operand(inputs, 1), inputs[2]];
    const da = transA
      ? gemm(b, g, { transA: transB, transB: true, alpha })
      : gemm(g, b, { transB: !transB, alpha });
    const db = transB
      ? gemm(g, a, { transA: true, transB: transA, alpha })
      : gemm(a, g, { transA: !transA, alpha });
    return c ? [da, db, sumToShape(g, c.shape)] : [da, db];
  }),
});

/** alpha * op(a) op(b) + c for 2-D a and b, op being the transpose where asked. [M,N]. */
export function gemm(a: Value, b: Value, options: GemmOptions = {}): Value {
  const { transA = false, transB = false, alpha = 1, c } = options;
  return apply(gemmOp, c ? [a, b, c] : [a, b], { transA, transB, alpha });
}

/** into + x as one product, where x is a gemm without an addend and of that shape; undefined otherwise. */
export function accumulateProduct(into: Value, x: Value): Value | undefined {
  const { producer } = x;
  if (producer?.op !== gemmOp || producer.inputs.length !== 2) return undefined;
  if (!sameShape(into.shape, x.shape)) return undefined;
  return apply(gemmOp, [...producer.inputs, into], producer.attributes as GemmAttributes);
}
