// Comparisons, boolean logic and choosing by them, and the change of dtype. Comparisons have no gradient.
import type { DType } from '../ort/runtime.ts';
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectSameDType, expectThat, isFloat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import type { Op } from '../graph/op.ts';
import { broadcastShapes } from '../graph/shape.ts';
import { binary } from './arithmetic.ts';
import type { Operand } from './arithmetic.ts';
import { sumToShape } from './broadcast.ts';
import { dataTypes } from '../onnx/schema.ts';

function definePredicate(name: string, opType: string): Op<undefined> {
  return defineOp<undefined>({
    name,
    infer(inputs) {
      const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
      expectSameDType(name, a, b);
      return [{ dtype: 'bool', shape: broadcastShapes(a.shape, b.shape, name) }];
    },
    emit: (emitter, { from, to }) => void emitter.node(opType, from, { outputs: to }),
    gradient: { flat: 'its result is a truth value' },
  });
}

const equalOp = definePredicate('equal', 'Equal');
const lessOp = definePredicate('less', 'Less');
const greaterOp = definePredicate('greater', 'Greater');
const andOp = definePredicate('and', 'And');
const orOp = definePredicate('or', 'Or');

const notOp = defineOp<undefined>({
  name: 'not',
  infer(inputs) {
    const x = operand(inputs, 0);
    expectThat(x.dtype === 'bool', 'not', 'bool', x);
    return [{ dtype: 'bool', shape: x.shape }];
  },
  emit: (emitter, { from, to }) => void emitter.node('Not', from, { outputs: to }),
  gradient: { flat: 'its result is a truth value' },
});

export const equal = (a: Operand, b: Operand): Value => binary(equalOp, a, b);
export const less = (a: Operand, b: Operand): Value => binary(lessOp, a, b);
export const greater = (a: Operand, b: Operand): Value => binary(greaterOp, a, b);
export const and = (a: Value, b: Value): Value => apply(andOp, [a, b], undefined);
export const or = (a: Value, b: Value): Value => apply(orOp, [a, b], undefined);
export const not = (x: Value): Value => apply(notOp, [x], undefined);

const whereOp = defineOp<undefined>({
  name: 'where',
  infer(inputs) {
    const [condition, a, b] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    expectThat(condition.dtype === 'bool', 'where', 'a bool condition', condition);
    expectSameDType('where', a, b);
    const branches = broadcastShapes(a.shape, b.shape, 'where');
    return [{ dtype: a.dtype, shape: broadcastShapes(condition.shape, branches, 'where') }];
  },
  emit: (emitter, { from, to }) => void emitter.node('Where', from, { outputs: to }),
  gradient: vjp((g, { inputs }) => {
    const [condition, a, b] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const da = sumToShape(where(condition, g, 0), a.shape);
    return [undefined, da, sumToShape(where(condition, 0, g), b.shape)];
  }),
});

/** a where the condition holds, else b; all three broadcast. One branch may be a number. */
export function where(condition: Value, a: Operand, b: Operand): Value {
  const tensor = typeof a === 'number' ? b : a;
  if (typeof tensor === 'number') throw new Error('where: one branch must be a tensor');
  const lift = (x: Operand) => (typeof x === 'number' ? tensor.graph.scalar(x, tensor.dtype) : x);
  return apply(whereOp, [condition, lift(a), lift(b)], undefined);
}

const castOp = defineOp<{ dtype: DType }>({
  name: 'cast',
  infer: (inputs, { dtype }) => [{ dtype, shape: operand(inputs, 0).shape }],
  emit(emitter, { from, to, attributes }) {
    emitter.node('Cast', from, {
      outputs: to,
      attributes: { to: { int: dataTypes[attributes.dtype] } },
    });
  },
  gradient: vjp((g, { inputs }) => {
    const { dtype } = operand(inputs, 0);
    return [isFloat(dtype) ? cast(g, dtype) : undefined];
  }),
});

export function cast(x: Value, dtype: DType): Value {
  return x.dtype === dtype ? x : apply(castOp, [x], { dtype });
}
