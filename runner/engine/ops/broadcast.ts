// Repeating along axes and its adjoint, summing along axes. The sum-to-shape that every broadcasting gradient
// needs is here, once.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectThat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import { broadcastAxes, broadcastShapes, formatShape, normalAxes, sameShape } from '../graph/shape.ts';
import type { Shape } from '../graph/shape.ts';
import { reshape } from './shape.ts';

const expandOp = defineOp<{ shape: Shape }>({
  name: 'expand',
  cheap: true,
  infer(inputs, { shape }) {
    const x = operand(inputs, 0);
    const fits = sameShape(broadcastShapes(x.shape, shape, 'expand'), shape);
    expectThat(fits, 'expand', `a shape that broadcasts to ${formatShape(shape)}`, x);
    return [{ dtype: x.dtype, shape: [...shape] }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('Expand', [from[0] as string, emitter.int64s(attributes.shape)], { outputs: to });
  },
  gradient: vjp((g, { inputs }) => [sumToShape(g, operand(inputs, 0).shape)]),
});

/** NumPy broadcast of x to `shape`. Element-wise ops broadcast by themselves, faster. */
export function expand(x: Value, shape: Shape): Value {
  return sameShape(x.shape, shape) ? x : apply(expandOp, [x], { shape });
}

export interface ReduceAttributes {
  readonly axes: readonly number[];
  readonly keepDims: boolean;
}

/** The shape after reducing sorted, normal axes. */
export const reducedShape = (shape: Shape, { axes, keepDims }: ReduceAttributes): number[] =>
  shape.flatMap((size, axis) => (axes.includes(axis) ? (keepDims ? [1] : []) : [size]));

const reduceSumOp = defineOp<ReduceAttributes>({
  name: 'reduce_sum',
  infer(inputs, attributes) {
    const x = operand(inputs, 0);
    expectFloat('reduce_sum', x);
    return [{ dtype: x.dtype, shape: reducedShape(x.shape, attributes) }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('ReduceSum', [from[0] as string, emitter.int64s(attributes.axes)], {
      outputs: to,
      attributes: { keepdims: { int: attributes.keepDims ? 1 : 0 } },
    });
  },
  gradient: vjp((g, { inputs, attributes }) => {
    const x = operand(inputs, 0);
    const kept = reshape(g, reducedShape(x.shape, { ...attributes, keepDims: true }));
    return [expand(kept, x.shape)];
  }),
});

/** Sum over axes (default: all, giving a scalar). */
export function reduceSum(x: Value, axes?: readonly number[], keepDims = false): Value {
  const normal = normalAxes(axes ?? x.shape.map((_, axis) => axis), x.shape.length, 'reduce_sum');
  return normal.length === 0 ? x : apply(reduceSumOp, [x], { axes: normal, keepDims });
}

/** The adjoint of broadcasting from `shape`: sums x over every axis along which `shape` was repeated. */
export function sumToShape(x: Value, shape: Shape): Value {
  return reshape(reduceSum(x, broadcastAxes(shape, x.shape)), shape);
}
