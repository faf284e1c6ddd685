// Element-wise functions of one tensor.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, operand } from '../graph/expect.ts';
import { defineOp, firstOrderOnly, vjp } from '../graph/op.ts';
import type { Emission, Emitter, Op } from '../graph/op.ts';
import { div, mul } from './arithmetic.ts';

interface Unary<A> {
  readonly name: string;
  emit(emitter: Emitter, emission: Emission<A>): void;
  /** The input's cotangent from the output's (g), the input x and the output y. */
  gradient(g: Value, x: Value, y: Value, attributes: A): Value;
}

function defineUnary<A>({ name, emit, gradient }: Unary<A>): Op<A> {
  return defineOp<A>({
    name,
    infer(inputs) {
      const x = operand(inputs, 0);
      expectFloat(name, x);
      return [{ dtype: x.dtype, shape: x.shape }];
    },
    emit,
    gradient: vjp((g, { inputs, outputs, attributes }) => [
      gradient(g, operand(inputs, 0), operand(outputs, 0), attributes),
    ]),
  });
}

const emitAs =
  (opType: string) =>
  (emitter: Emitter, { from, to }: Emission<undefined>): void =>
    void emitter.node(opType, from, { outputs: to });

const sqrtOp = defineUnary<undefined>({
  name: 'sqrt',
  emit: emitAs('Sqrt'),
  gradient: (g, _x, y) => div(mul(g, 0.5), y),
});

const expOp = defineUnary<undefined>({
  name: 'exp',
  emit: emitAs('Exp'),
  gradient: (g, _x, y) => mul(g, y),
});

const logOp = defineUnary<undefined>({
  name: 'log',
  emit: emitAs('Log'),
  gradient: (g, x) => div(g, x),
});

const squareOp = defineUnary<undefined>({
  name: 'square',
  emit: (emitter, { from, to }) => void emitter.node('Mul', [...from, ...from], { outputs: to }),
  gradient: (g, x) => mul(mul(g, 2), x),
});

const powOp = defineUnary<{ exponent: number }>({
  name: 'pow',
  emit(emitter, { inputs, from, to, attributes }) {
    const exponent = emitter.scalar(attributes.exponent, operand(inputs, 0));
    emitter.node('Pow', [...from, exponent], { outputs: to });
  },
  gradient: (g, x, _y, { exponent }) => mul(mul(g, exponent), pow(x, exponent - 1)),
});

const sigmoidOp = defineUnary<undefined>({
  name: 'sigmoid',
  emit: emitAs('Sigmoid'),
  gradient: (g, _x, y) => apply(sigmoidGradOp, [g, y], undefined),
});

/** g * y (1 - y), y being the sigmoid: g y - (g y) y, three passes. */
const sigmoidGradOp = defineOp<undefined>({
  name: 'sigmoid_grad',
  infer: ([g]) => [{ dtype: (g as Value).dtype, shape: (g as Value).shape }],
  emit(emitter, { from, to }) {
    const [g, y] = from as [string, string];
    const scaled = emitter.node('Mul', [g, y]);
    emitter.node('Sub', [scaled, emitter.node('Mul', [scaled, y])], { outputs: to });
  },
  gradient: firstOrderOnly,
});

export const sqrt = (x: Value): Value => apply(sqrtOp, [x], undefined);
export const exp = (x: Value): Value => apply(expOp, [x], undefined);
export const log = (x: Value): Value => apply(logOp, [x], undefined);
export const square = (x: Value): Value => apply(squareOp, [x], undefined);
/** x to a constant power. */
export const pow = (x: Value, exponent: number): Value => apply(powOp, [x], { exponent });
export const sigmoid = (x: Value): Value => apply(sigmoidOp, [x], undefined);
