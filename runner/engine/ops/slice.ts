// Cutting tensors and putting them together along one axis: slice and its adjoint pad, split and its adjoint concat.
import { apply, applyAll } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import { formatShape, normalAxis, sameShape, sizeAt, withSize } from '../graph/shape.ts';

const sliceOp = defineOp<{ axis: number; start: number; end: number }>({
  name: 'slice',
  infer(inputs, { axis, start, end }) {
    const x = operand(inputs, 0);
    const inside = 0 <= start && start <= end && end <= sizeAt(x.shape, axis);
    expectThat(inside, 'slice', `a tensor that holds ${start}..${end} on axis ${axis}`, x);
    return [{ dtype: x.dtype, shape: withSize(x.shape, axis, end - start) }];
  },
  emit(emitter, { from, to, attributes: { axis, start, end } }) {
    const bounds = [[start], [end], [axis]].map((values) => emitter.int64s(values));
    emitter.node('Slice', [...from, ...bounds], { outputs: to });
  },
  gradient: vjp((g, { inputs, attributes: { axis, start, end } }) => {
    const size = sizeAt(operand(inputs, 0).shape, axis);
    return [apply(padOp, [g], { axis, before: start, after: size - end })];
  }),
});

/** Elements start (inclusive) to end (exclusive) of one axis. To cut a whole axis into parts use split. */
export function slice(x: Value, axis: number, start: number, end: number): Value {
  return apply(sliceOp, [x], { axis: normalAxis(axis, x.shape.length, 'slice'), start, end });
}

const padOp = defineOp<{ axis: number; before: number; after: number }>({
  name: 'pad',
  infer(inputs, { axis, before, after }) {
    const x = operand(inputs, 0);
    expectFloat('pad', x);
    return [{ dtype: x.dtype, shape: withSize(x.shape, axis, sizeAt(x.shape, axis) + before + after) }];
  },
  emit(emitter, { inputs, from, to, attributes: { axis, before, after } }) {
    const x = operand(inputs, 0);
    const at = (amount: number) =>
      withSize(
        x.shape.map(() => 0),
        axis,
        amount,
      );
    const pads = emitter.int64s([...at(before), ...at(after)]);
    emitter.node('Pad', [...from, pads, emitter.scalar(0, x)], { outputs: to });
  },
  gradient: vjp((g, { inputs, attributes: { axis, before } }) => {
    const size = sizeAt(operand(inputs, 0).shape, axis);
    return [slice(g, axis, before, before + size)];
  }),
});

/** Zeros before and after along one axis. */
export function pad(x: Value, axis: number, before: number, after: number): Value {
  return apply(padOp, [x], { axis: normalAxis(axis, x.shape.length, 'pad'), before, after });
}

const concatOp = defineOp<{ axis: number }>({
  name: 'concat',
  infer(inputs, { axis }) {
    const first = operand(inputs, 0);
    for (const x of inputs) {
      expectSameDType('concat', first, x);
      const fits = sameShape(withSize(x.shape, axis, 0), withSize(first.shape, axis, 0));
      expectThat(fits, 'concat', `shapes equal but for axis ${axis}`, first, x);
    }
    const size = inputs.reduce((sum, x) => sum + sizeAt(x.shape, axis), 0);
    return [{ dtype: first.dtype, shape: withSize(first.shape, axis, size) }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('Concat', from, { outputs: to, attributes: { axis: { int: attributes.axis } } });
  },
  gradient: vjp((g, { inputs, attributes: { axis } }) =>
    split(
      g,
      axis,
      inputs.map((x) => sizeAt(x.shape, axis)),
    ),
  ),
});

export function concat(values: readonly Value[], axis: number): Value {
  const first = operand(values, 0);
  if (values.length === 1) return first;
  return apply(concatOp, values, { axis: normalAxis(axis, first.shape.length, 'concat') });
}

const splitOp = defineOp<{ axis: number; sizes: readonly number[] }>({
  name: 'split',
  infer(inputs, { axis, sizes }) {
    const x = operand(inputs, 0);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const fits = total === sizeAt(x.shape, axis);
    expectThat(fits, 'split', `axis ${axis} to be the sum of ${formatShape(sizes)}`, x);
    return sizes.map((size) => ({ dtype: x.dtype, shape: withSize(x.shape, axis, size) }));
  },
  emit(emitter, { from, to, attributes: { axis, sizes } }) {
    emitter.node('Split', [...from, emitter.int64s(sizes)], {
      outputs: to,
      attributes: { axis: { int: axis } },
    });
  },
  gradient: {
    rule({ outputs, attributes: { axis } }, cotangents) {
      const parts = outputs.map(
        (output, index) => cotangents[index] ?? output.graph.filled(output.shape, 0, output.dtype),
      );
      return [concat(parts, axis)];
    },
  },
});

/** Consecutive parts of the given sizes, which must add up to the axis. */
export function split(x: Value, axis: number, sizes: readonly number[]): readonly Value[] {
  if (sizes.length === 1) return [x];
  return applyAll(splitOp, [x], { axis: normalAxis(axis, x.shape.length, 'split'), sizes });
}
