// Reductions beside the sum (which is in broadcast.ts), and the ops that order or accumulate along an axis.
import { apply, applyAll } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectThat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import type { Op } from '../graph/op.ts';
import { elementCount, normalAxes, normalAxis, sizeAt, withSize } from '../graph/shape.ts';
import { div, mul } from './arithmetic.ts';
import { expand, reducedShape, reduceSum } from './broadcast.ts';
import type { ReduceAttributes } from './broadcast.ts';
import { dataTypes } from '../onnx/schema.ts';
import { cast, equal } from './compare.ts';
import { scatterAddElements } from './gather.ts';
import { reshape } from './shape.ts';

const reduceMeanOp = defineOp<ReduceAttributes>({
  name: 'reduce_mean',
  infer(inputs, attributes) {
    const x = operand(inputs, 0);
    expectFloat('reduce_mean', x);
    return [{ dtype: x.dtype, shape: reducedShape(x.shape, attributes) }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('ReduceMean', [from[0] as string, emitter.int64s(attributes.axes)], {
      outputs: to,
      attributes: { keepdims: { int: attributes.keepDims ? 1 : 0 } },
    });
  },
  gradient: vjp((g, { inputs, attributes }) => {
    const x = operand(inputs, 0);
    const count = elementCount(attributes.axes.map((axis) => sizeAt(x.shape, axis)));
    return [expand(keepDims(mul(g, 1 / count), x, attributes), x.shape)];
  }),
});

const reduceMaxOp = defineOp<ReduceAttributes>({
  name: 'reduce_max',
  infer(inputs, attributes) {
    const x = operand(inputs, 0);
    expectFloat('reduce_max', x);
    return [{ dtype: x.dtype, shape: reducedShape(x.shape, attributes) }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('ReduceMax', [from[0] as string, emitter.int64s(attributes.axes)], {
      outputs: to,
      attributes: { keepdims: { int: attributes.keepDims ? 1 : 0 } },
    });
  },
  // Equal maxima share the cotangent.
  gradient: vjp((g, { inputs, outputs, attributes }) => {
    const x = operand(inputs, 0);
    const isMax = cast(equal(x, keepDims(operand(outputs, 0), x, attributes)), x.dtype);
    const share = div(keepDims(g, x, attributes), reduceSum(isMax, attributes.axes, true));
    return [mul(isMax, share)];
  }),
});

const keepDims = (reduced: Value, x: Value, attributes: ReduceAttributes): Value =>
  reshape(reduced, reducedShape(x.shape, { ...attributes, keepDims: true }));

/** Mean over axes (default: all, giving a scalar). */
export function reduceMean(x: Value, axes?: readonly number[], keep = false): Value {
  const normal = normalAxes(axes ?? x.shape.map((_, axis) => axis), x.shape.length, 'reduce_mean');
  return normal.length === 0 ? x : apply(reduceMeanOp, [x], { axes: normal, keepDims: keep });
}

/** Maximum over axes (default: all, giving a scalar). */
export function reduceMax(x: Value, axes?: readonly number[], keep = false): Value {
  const normal = normalAxes(axes ?? x.shape.map((_, axis) => axis), x.shape.length, 'reduce_max');
  return normal.length === 0 ? x : apply(reduceMaxOp, [x], { axes: normal, keepDims: keep });
}

const argmaxOp = defineOp<{ axis: number }>({
  name: 'argmax',
  infer(inputs, { axis }) {
    const x = operand(inputs, 0);
    return [{ dtype: 'int32', shape: x.shape.filter((_, index) => index !== axis) }];
  },
  emit(emitter, { from, to, attributes }) {
    const index = emitter.node('ArgMax', from, {
      attributes: { axis: { int: attributes.axis }, keepdims: { int: 0 } },
    });
    emitter.node('Cast', [index], { outputs: to, attributes: { to: { int: 6 } } });
  },
  gradient: { flat: 'an index does not change with its operand' },
});

/** Index (int32) of the first maximum along an axis, which disappears. */
export function argmax(x: Value, axis: number): Value {
  return apply(argmaxOp, [x], { axis: normalAxis(axis, x.shape.length, 'argmax') });
}

const topkOp = defineOp<{ k: number; axis: number }>({
  name: 'topk',
  infer(inputs, { k, axis }) {
    const x = operand(inputs, 0);
    expectThat(k >= 1 && k <= sizeAt(x.shape, axis), 'topk', `at least ${k} on axis ${axis}`, x);
    const shape = withSize(x.shape, axis, k);
    return [
      { dtype: x.dtype, shape },
      { dtype: 'int32', shape },
    ];
  },
  emit(emitter, { from, to, attributes: { k, axis } }) {
    const [values, indices] = to as [string, string];
    const wide = `${indices}/int64`;
    emitter.node('TopK', [...from, emitter.int64s([k])], {
      outputs: [values, wide],
      attributes: { axis: { int: axis } },
    });
    // What is done with int64 next has no kernel on every provider.
    emitter.node('Cast', [wide], { outputs: [indices], attributes: { to: { int: dataTypes.int32 } } });
  },
  gradient: {
    rule({ inputs, outputs, attributes }, [g]) {
      const x = operand(inputs, 0);
      if (!g) return [undefined];
      const zeros = expand(x.graph.scalar(0, x.dtype), x.shape);
      return [scatterAddElements(zeros, operand(outputs, 1), g, attributes.axis)];
    },
  },
});

/** The k largest along an axis, descending, and their indices (int32). */
export function topk(x: Value, k: number, axis = -1): { values: Value; indices: Value } {
  const normal = normalAxis(axis, x.shape.length, 'topk');
  const [values, indices] = applyAll(topkOp, [x], { k, axis: normal });
  return { values: values as Value, indices: indices as Value };
}

interface CumsumAttributes {
  readonly axis: number;
  readonly reverse: boolean;
  readonly exclusive: boolean;
}

const cumsumOp: Op<CumsumAttributes> = defineOp<CumsumAttributes>({
  name: 'cumsum',
  infer(inputs) {
    const x = operand(inputs, 0);
    expectFloat('cumsum', x);
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit(emitter, { from, to, attributes: { axis, reverse, exclusive } }) {
    emitter.node('CumSum', [...from, emitter.int64s([axis])], {
      outputs: to,
      attributes: { reverse: { int: reverse ? 1 : 0 }, exclusive: { int: exclusive ? 1 : 0 } },
    });
  },
  gradient: vjp((g, { attributes }) => [
    apply(cumsumOp, [g], { ...attributes, reverse: !attributes.reverse }),
  ]),
});

export interface CumsumOptions {
  readonly reverse?: boolean;
  /** Element i then sums what comes before it, itself excluded. */
  readonly exclusive?: boolean;
}

export function cumsum(x: Value, axis: number, options: CumsumOptions = {}): Value {
  const { reverse = false, exclusive = false } = options;
  const normal = normalAxis(axis, x.shape.length, 'cumsum');
  return apply(cumsumOp, [x], { axis: normal, reverse, exclusive });
}
