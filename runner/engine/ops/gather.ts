// Reading and adding by index: whole rows, or single elements along an axis. The adjoint is ScatterElements with
// reduction "add", never ScatterND: that one loses updates on the CPU provider when indices repeat and more than
// one thread runs (microsoft/onnxruntime#18048, #23396).
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import {
  expectFloat,
  expectIndices,
  expectRank,
  expectSameDType,
  expectThat,
  operand,
} from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import type { Emitter } from '../graph/op.ts';
import { elementCount, normalAxis, sameShape } from '../graph/shape.ts';
import { expand } from './broadcast.ts';

const gatherRowsOp = defineOp<undefined>({
  name: 'gather_rows',
  infer(inputs) {
    const [table, indices] = [operand(inputs, 0), operand(inputs, 1)];
    expectIndices('gather_rows', indices);
    expectThat(table.shape.length >= 1, 'gather_rows', 'a table of rows', table);
    return [{ dtype: table.dtype, shape: [...indices.shape, ...table.shape.slice(1)] }];
  },
  emit: (emitter, { from, to }) =>
    void emitter.node('Gather', from, { outputs: to, attributes: { axis: { int: 0 } } }),
  gradient: vjp((g, { inputs }) => {
    const [table, indices] = [operand(inputs, 0), operand(inputs, 1)];
    return [scatterAddRows(zeros(table), indices, g), undefined];
  }),
});

/** table [N,…] at indices [I…] of int32 or int64 (repeats allowed): [I…,…]. */
export const gatherRows = (table: Value, indices: Value): Value =>
  apply(gatherRowsOp, [table, indices], undefined);

const scatterAddRowsOp = defineOp<undefined>({
  name: 'scatter_add_rows',
  infer(inputs) {
    const [into, indices, rows] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    expectFloat('scatter_add_rows', into);
    expectSameDType('scatter_add_rows', into, rows);
    expectIndices('scatter_add_rows', indices);
    const expected = [...indices.shape, ...into.shape.slice(1)];
    expectThat(sameShape(rows.shape, expected), 'scatter_add_rows', `rows [${expected.join(',')}]`, rows);
    return [{ dtype: into.dtype, shape: into.shape }];
  },
  emit(emitter, { inputs, from, to }) {
    const [into, indices, rows] = from as [string, string, string];
    const rowShape = operand(inputs, 0).shape.slice(1);
    const count = elementCount(operand(inputs, 1).shape);
    const column = [count, ...rowShape.map(() => 1)];
    const flatIndices = emitter.node('Reshape', [indices, emitter.int64s(column)]);
    const everywhere = emitter.node('Expand', [flatIndices, emitter.int64s([count, ...rowShape])]);
    const flatRows = emitter.node('Reshape', [rows, emitter.int64s([count, ...rowShape])]);
    emitScatter(emitter, [into, everywhere, flatRows], to, 0);
  },
  gradient: vjp((g, { inputs }) => [g, undefined, gatherRows(g, operand(inputs, 1))]),
});

/** into [N,…] plus rows [I…,…] added at indices [I…]; repeated indices add up, in a fixed order. */
export const scatterAddRows = (into: Value, indices: Value, rows: Value): Value =>
  apply(scatterAddRowsOp, [into, indices, rows], undefined);

const gatherElementsOp = defineOp<{ axis: number }>({
  name: 'gather_elements',
  infer(inputs) {
    const [x, indices] = [operand(inputs, 0), operand(inputs, 1)];
    expectIndices('gather_elements', indices);
    expectRank('gather_elements', indices, x.shape.length);
    return [{ dtype: x.dtype, shape: indices.shape }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('GatherElements', from, {
      outputs: to,
      attributes: { axis: { int: attributes.axis } },
    });
  },
  gradient: vjp((g, { inputs, attributes }) => {
    const [x, indices] = [operand(inputs, 0), operand(inputs, 1)];
    return [apply(scatterAddElementsOp, [zeros(x), indices, g], attributes), undefined];
  }),
});

/** Element-wise reading along one axis: out[i,j] = x[i, indices[i,j]] for the last axis of a matrix. */
export function gatherElements(x: Value, indices: Value, axis: number): Value {
  return apply(gatherElementsOp, [x, indices], { axis: normalAxis(axis, x.shape.length, 'gather_elements') });
}

const scatterAddElementsOp = defineOp<{ axis: number }>({
  name: 'scatter_add_elements',
  infer(inputs) {
    const [into, indices, updates] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    expectFloat('scatter_add_elements', into);
    expectIndices('scatter_add_elements', indices);
    expectSameDType('scatter_add_elements', into, updates);
    const fits = sameShape(indices.shape, updates.shape) && into.shape.length === updates.shape.length;
    expectThat(fits, 'scatter_add_elements', 'indices and updates of one shape', indices, updates);
    return [{ dtype: into.dtype, shape: into.shape }];
  },
  emit: (emitter, { from, to, attributes }) => emitScatter(emitter, from, to, attributes.axis),
  gradient: vjp((g, { inputs, attributes }) => {
    return [g, undefined, gatherElements(g, operand(inputs, 1), attributes.axis)];
  }),
});

/** into plus updates at indices along one axis; repeated indices add up, in a fixed order. */
export function scatterAddElements(into: Value, indices: Value, updates: Value, axis: number): Value {
  const normal = normalAxis(axis, into.shape.length, 'scatter_add_elements');
  return apply(scatterAddElementsOp, [into, indices, updates], { axis: normal });
}

/** into + x as one scatter, where x scatters into zeros; undefined otherwise. */
export function accumulateScatter(into: Value, x: Value): Value | undefined {
  const { producer } = x;
  if (producer?.op !== scatterAddRowsOp && producer?.op !== scatterAddElementsOp) return undefined;
  const [base, ...rest] = producer.inputs;
  const ontoZeros = base?.producer?.inputs[0] === x.graph.scalar(0, x.dtype);
  return ontoZeros ? apply(producer.op, [into, ...rest], producer.attributes) : undefined;
}

/** Zeros made at run time: a constant of an embedding's size would have to be stored in the model. */
const zeros = (like: Value): Value => expand(like.graph.scalar(0, like.dtype), like.shape);

function emitScatter(emitter: Emitter, from: readonly string[], to: readonly string[], axis: number): void {
  emitter.node('ScatterElements', from, {
    outputs: to,
    attributes: { axis: { int: axis }, reduction: { text: 'add' } },
  });
}
