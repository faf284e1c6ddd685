// Ops that move or relabel elements without arithmetic: reshape, transpose, identity-like changes of view.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectThat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import { elementCount, formatShape, sameShape } from '../graph/shape.ts';
import type { Shape } from '../graph/shape.ts';

const reshapeOp = defineOp<{ shape: Shape }>({
  name: 'reshape',
  cheap: true,
  infer([x], { shape }) {
    const value = operand([x as Value], 0);
    const same = elementCount(shape, 'reshape') === elementCount(value.shape);
    expectThat(same, 'reshape', `as many elements as in ${formatShape(shape)}`, value);
    return [{ dtype: value.dtype, shape: [...shape] }];
  },
  emit(emitter, { from, to, attributes }) {
    // allowzero: our shapes are literal, a zero means an empty axis and not "copy the input's".
    emitter.node('Reshape', [from[0] as string, emitter.int64s(attributes.shape)], {
      outputs: to,
      attributes: { allowzero: { int: 1 } },
    });
  },
  gradient: vjp((g, { inputs }) => [reshape(g, operand(inputs, 0).shape)]),
});

/** Same elements in the same order under another shape; one size may be -1. */
export function reshape(x: Value, shape: Shape): Value {
  const known = shape.reduce((product, size) => (size === -1 ? product : product * size), 1);
  const full = shape.map((size) => (size === -1 ? elementCount(x.shape) / known : size));
  return sameShape(full, x.shape) ? x : apply(reshapeOp, [x], { shape: full });
}

interface TransposeAttributes {
  readonly permutation: readonly number[];
}

const transposeOp = defineOp<TransposeAttributes>({
  name: 'transpose',
  infer([x], { permutation }) {
    const value = operand([x as Value], 0);
    const axes = [...permutation].sort((a, b) => a - b);
    const isPermutation = axes.length === value.shape.length && axes.every((axis, index) => axis === index);
    expectThat(isPermutation, 'transpose', `a rank that ${formatShape(permutation)} permutes`, value);
    return [{ dtype: value.dtype, shape: permutation.map((axis) => value.shape[axis] as number) }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('Transpose', from, {
      outputs: to,
      attributes: { perm: { ints: attributes.permutation } },
    });
  },
  gradient: vjp((g, { attributes }) => {
    const inverse = attributes.permutation.map((_, axis) => attributes.permutation.indexOf(axis));
    return [transpose(g, inverse)];
  }),
});

/** Output axis i is input axis permutation[i]. */
export function transpose(x: Value, permutation: readonly number[]): Value {
  const isIdentity = permutation.length === x.shape.length && permutation.every((a, i) => a === i);
  return isIdentity ? x : apply(transposeOp, [x], { permutation });
}

/** The permutation of a value that transpose made, else undefined. */
export function permutationOf(x: Value): readonly number[] | undefined {
  const { producer } = x;
  if (producer?.op !== transposeOp) return undefined;
  return (producer.attributes as TransposeAttributes).permutation;
}
