// SiLU (x sigmoid(x)) and the gated product silu(gate) * up of a SwiGLU feed-forward. QuickGelu with alpha 1 is SiLU
// in one pass over memory (its default alpha is 1.702); it has no float64 kernel, there the product is spelt out.
import { apply, applyAll } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, firstOrderOnly, vjp } from '../graph/op.ts';
import type { Emitter } from '../graph/op.ts';
import { sameShape } from '../graph/shape.ts';

const siluOp = defineOp<undefined>({
  name: 'silu',
  infer(inputs) {
    const x = operand(inputs, 0);
    expectFloat('silu', x);
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit: (emitter, { inputs, from, to }) => void emitSilu(emitter, operand(inputs, 0), from[0] as string, to),
  gradient: vjp((g, { inputs }) => [apply(siluGradOp, [g, operand(inputs, 0)], undefined)]),
});

export const silu = (x: Value): Value => apply(siluOp, [x], undefined);

function emitSilu(emitter: Emitter, type: Value, x: string, outputs?: readonly string[]): string {
  if (type.dtype === 'float64') {
    return emitter.node('Mul', [x, emitter.node('Sigmoid', [x])], { outputs });
  }
  return emitter.node('QuickGelu', [x], {
    domain: 'com.microsoft',
    attributes: { alpha: { float: 1 } },
    outputs,
  });
}

/** g times silu'(x) = s + x s (1 - s) = s (1 + x - x s), s being the sigmoid and x s the SiLU. */
const siluGradOp = defineOp<undefined>({
  name: 'silu_grad',
  infer: ([g]) => [{ dtype: (g as Value).dtype, shape: (g as Value).shape }],
  emit(emitter, { from, to }) {
    const [g, x] = from as [string, string];
    const sigmoid = emitter.node('Sigmoid', [x]);
    const activated = emitter.node('Mul', [x, sigmoid]);
    emitSlope(emitter, { g, x, sigmoid, activated }, to);
  },
  gradient: firstOrderOnly,
});

interface Slope {
  readonly g: string;
  readonly x: string;
  readonly sigmoid: string;
  readonly activated: string;
}

/** p + p (x - activated) with p = g s: what silu' leaves to do once sigmoid and SiLU are there. */
function emitSlope(emitter: Emitter, { g, x, sigmoid, activated }: Slope, to: readonly string[]): void {
  const scaled = emitter.node('Mul', [g, sigmoid]);
  const rest = emitter.node('Mul', [scaled, emitter.node('Sub', [x, activated])]);
  emitter.node('Add', [scaled, rest], { outputs: to });
}

const siluMulOp = defineOp<undefined>({
  name: 'silu_mul',
  infer(inputs) {
    const [gate, up] = [operand(inputs, 0), operand(inputs, 1)];
    expectFloat('silu_mul', gate);
    expectSameDType('silu_mul', gate, up);
    expectThat(sameShape(gate.shape, up.shape), 'silu_mul', 'equal shapes', gate, up);
    return [{ dtype: gate.dtype, shape: gate.shape }];
  },
  emit(emitter, { inputs, from, to }) {
    const [gate, up] = from as [string, string];
    emitter.node('Mul', [emitSilu(emitter, operand(inputs, 0), gate), up], { outputs: to });
  },
  gradient: vjp((g, { inputs }) => applyAll(siluMulGradOp, [g, ...inputs], undefined)),
});

/** silu(gate) * up, of equal shapes. */
export const siluMul = (gate: Value, up: Value): Value => apply(siluMulOp, [gate, up], undefined);

const siluMulGradOp = defineOp<undefined>({
  name: 'silu_mul_grad',
  infer: ([g]) => [g as Value, g as Value].map(({ dtype, shape }) => ({ dtype, shape })),
  emit(emitter, { from, to }) {
    const [g, gate, up] = from as [string, string, string];
    const [toGate, toUp] = to as [string, string];
    const sigmoid = emitter.node('Sigmoid', [gate]);
    const activated = emitter.node('Mul', [gate, sigmoid]);
    emitter.node('Mul', [g, activated], { outputs: [toUp] });
    const slope = { g: emitter.node('Mul', [g, up]), x: gate, sigmoid, activated };
    emitSlope(emitter, slope, [toGate]);
  },
  gradient: firstOrderOnly,
});
