// Matrix products: batched matmul and the 2-D gemm that accumulates. Transposes are flags, never copies of weights.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectRank, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import type { Emission, Emitter, Op } from '../graph/op.ts';
import { broadcastShapes, sameShape, sizeAt } from '../graph/shape.ts';
import { sumToShape } from './broadcast.ts';
import { emitHalfProduct } from './half-operands.ts';
import type { HalfOperands } from './half-operands.ts';
import { permutationOf, reshape, transpose } from './shape.ts';

interface MatmulAttributes {
  readonly transA: boolean;
  readonly transB: boolean;
}

const matmulOp: Op<MatmulAttributes> = defineOp<MatmulAttributes>({
  name: 'matmul',
  infer(inputs, { transA, transB }) {
    const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
    expectFloat('matmul', a);
    expectSameDType('matmul', a, b);
    const ranked = a.shape.length >= 2 && b.shape.length >= 2;
    const [rows, inner] = transA ? [-1, -2] : [-2, -1];
    const [innerB, columns] = transB ? [-1, -2] : [-2, -1];
    const form = `${transA ? '[…,K,M]' : '[…,M,K]'} and ${transB ? '[…,N,K]' : '[…,K,N]'}`;
    expectThat(ranked && a.shape.at(inner) === b.shape.at(innerB), 'matmul', form, a, b);
    const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2), 'matmul');
    return [{ dtype: a.dtype, shape: [...batch, sizeAt(a.shape, rows), sizeAt(b.shape, columns)] }];
  },
  emit: emitMatmul,
  gradient: vjp((g, { inputs, attributes: { transA, transB } }) => {
    const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
    const da = transA
      ? product(b, g, { transA: transB, transB: true })
      : product(g, b, { transA: false, transB: !transB });
    return [sumToShape(da, a.shape), matmulRightGradient(g, a, b, { transA, transB })];
  }),
});

/** FusedMatMul transposes on the way (the CPU and CUDA providers have it, WebGPU does not). */
function emitMatmul(emitter: Emitter, { from, to, attributes }: Emission<MatmulAttributes>): void {
  const { transA, transB } = attributes;
  if (!transA && !transB) emitter.node('MatMul', from, { outputs: to });
  else {
    emitter.node('FusedMatMul', from, {
      domain: 'com.microsoft',
      outputs: to,
      attributes: { transA: { int: transA ? 1 : 0 }, transB: { int: transB ? 1 : 0 } },
    });
  }
}

const product = (a: Value, b: Value, attributes: MatmulAttributes): Value =>
  apply(matmulOp, [a, b], attributes);

/** A shared 2-D right side is one large product over all rows, not a batch of products that are summed after. */
function matmulRightGradient(g: Value, a: Value, b: Value, { transA, transB }: MatmulAttributes): Value {
  if (b.shape.length === 2 && a.shape.length > 2 && !transA) {
    const [rows, gRows] = [a, g].map((x) => reshape(x, [-1, sizeAt(x.shape, -1)])) as [Value, Value];
    return transB ? gemm(gRows, rows, { transA: true }) : gemm(rows, gRows, { transA: true });
  }
  const db = transB
    ? product(g, a, { transA: true, transB: transA })
    : product(a, g, { transA: !transA, transB: false });
  return sumToShape(db, b.shape);
}

/** a […,M,K] times b […,K,N], batch axes broadcast. An operand that is a swapLastTwo is read in place. */
export function matmul(a: Value, b: Value): Value {
  const [swappedA, swappedB] = [swapSource(a), swapSource(b)];
  const flags = { transA: swappedA !== undefined, transB: swappedB !== undefined };
  return product(swappedA ?? a, swappedB ?? b, flags);
}

/** Transpose of the last two axes; free where matmul takes it. */
export function swapLastTwo(x: Value): Value {
  expectThat(x.shape.length >= 2, 'swap_last_two', 'a rank of at least 2', x);
  return transpose(x, lastTwoSwapped(x.shape.length));
}

const lastTwoSwapped = (rank: number): number[] => [
  ...Array.from({ length: rank - 2 }, (_, axis) => axis),
  rank - 1,
  rank - 2,
];

function swapSource(x: Value): Value | undefined {
  const permutation = permutationOf(x);
  const isSwap = permutation?.every((axis, index) => axis === lastTwoSwapped(permutation.length)[index]);
  return isSwap ? x.producer?.inputs[0] : undefined;
}

interface GemmAttributes {
  readonly transA: boolean;
  readonly transB: boolean;
  readonly alpha: number;
  /** Undefined: the operands are taken as they are. The gradient's products round theirs alike. */
  readonly operands?: HalfOperands | undefined;
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
  emit(emitter, { inputs, from, to, attributes }) {
    const { transA, transB, alpha, operands } = attributes;
    const options = {
      attributes: {
        transA: { int: transA ? 1 : 0 },
        transB: { int: transB ? 1 : 0 },
        alpha: { float: alpha },
      },
    };
    if (operands === undefined || operand(inputs, 0).dtype === 'float64')
      emitter.node('Gemm', from, { ...options, outputs: to });
    else emitHalfProduct(emitter, operands, from, to, options);
  },
  gradient: vjp((g, { inputs, attributes: { transA, transB, alpha, operands } }) => {
    const [a, b, c] = [operand(inputs, 0), operand(inputs, 1), inputs[2]];
    const da = transA
      ? gemm(b, g, { transA: transB, transB: true, alpha, operands })
      : gemm(g, b, { transB: !transB, alpha, operands });
    const db = transB
      ? gemm(g, a, { transA: true, transB: transA, alpha, operands })
      : gemm(a, g, { transA: !transA, alpha, operands });
    return c ? [da, db, sumToShape(g, c.shape)] : [da, db];
  }),
});

/** alpha * op(a) op(b) + c for 2-D a and b, op being the transpose where asked. [M,N]. */
export function gemm(a: Value, b: Value, options: GemmOptions = {}): Value {
  const { transA = false, transB = false, alpha = 1, operands, c } = options;
  return apply(gemmOp, c ? [a, b, c] : [a, b], { transA, transB, alpha, operands });
}

/** into + x as one product, where x is a gemm without an addend and of that shape; undefined otherwise. */
export function accumulateProduct(into: Value, x: Value): Value | undefined {
  const { producer } = x;
  if (producer?.op !== gemmOp || producer.inputs.length !== 2) return undefined;
  if (!sameShape(into.shape, x.shape)) return undefined;
  return apply(gemmOp, [...producer.inputs, into], producer.attributes as GemmAttributes);
}
