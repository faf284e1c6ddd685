// Element-wise arithmetic with NumPy broadcasting. A plain number stands for a scalar constant.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectSameDType, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import type { Gradient, Node, Op } from '../graph/op.ts';
import { broadcastShapes } from '../graph/shape.ts';
import { sumToShape } from './broadcast.ts';

export type Operand = Value | number;

type BinaryRule = (g: Value, a: Value, b: Value, node: Node<undefined>) => readonly [Value, Value];

/** A rule that may ignore broadcasting: its results are summed to the operands' shapes. */
function binaryGradient(rule: BinaryRule): Gradient<undefined> {
  return vjp((g, node) => {
    const [a, b] = [operand(node.inputs, 0), operand(node.inputs, 1)];
    const [da, db] = rule(g, a, b, node);
    return [sumToShape(da, a.shape), sumToShape(db, b.shape)];
  });
}

function defineBinary(name: string, opType: string, rule: BinaryRule): Op<undefined> {
  return defineOp<undefined>({
    name,
    infer(inputs) {
      const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
      expectSameDType(name, a, b);
      return [{ dtype: a.dtype, shape: broadcastShapes(a.shape, b.shape, name) }];
    },
    emit: (emitter, { from, to }) => void emitter.node(opType, from, { outputs: to }),
    gradient: binaryGradient(rule),
  });
}

const addOp = defineBinary('add', 'Add', (g) => [g, g]);
const subOp = defineBinary('sub', 'Sub', (g) => [g, neg(g)]);
const mulOp = defineBinary('mul', 'Mul', (g, a, b) => [mul(g, b), mul(g, a)]);
const divOp = defineBinary('div', 'Div', (g, _a, b, { outputs }) => {
  const scaled = div(g, b);
  return [scaled, neg(mul(scaled, operand(outputs, 0)))];
});

const negOp = defineOp<undefined>({
  name: 'neg',
  infer: ([x]) => [{ dtype: (x as Value).dtype, shape: (x as Value).shape }],
  emit: (emitter, { from, to }) => void emitter.node('Neg', from, { outputs: to }),
  gradient: vjp((g) => [neg(g)]),
});

export const add = (a: Operand, b: Operand): Value => binary(addOp, a, b);
export const sub = (a: Operand, b: Operand): Value => binary(subOp, a, b);
export const mul = (a: Operand, b: Operand): Value => binary(mulOp, a, b);
export const div = (a: Operand, b: Operand): Value => binary(divOp, a, b);
export const neg = (x: Value): Value => apply(negOp, [x], undefined);

/** Applies a two-operand op after turning a number into a constant of the other operand's dtype. */
export function binary(op: Op<undefined>, a: Operand, b: Operand): Value {
  const tensor = typeof a === 'number' ? b : a;
  if (typeof tensor === 'number') throw new Error(`${op.name}: one operand must be a tensor`);
  const lift = (x: Operand) => (typeof x === 'number' ? tensor.graph.scalar(x, tensor.dtype) : x);
  return apply(op, [lift(a), lift(b)], undefined);
}
