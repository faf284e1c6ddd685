// RMS normalisation over the last axis: y = w x / sqrt(mean(x^2) + eps). SimplifiedLayerNormalization does the
// forward in one pass; its second output (the inverse RMS) is not filled by every provider, so the gradient
// computes it again from x.
import { apply, applyAll } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, firstOrderOnly, vjp } from '../graph/op.ts';
import type { Emitter } from '../graph/op.ts';
import { elementCount, sameShape, sizeAt } from '../graph/shape.ts';

interface RmsNormAttributes {
  readonly epsilon: number;
}

const rmsNormOp = defineOp<RmsNormAttributes>({
  name: 'rms_norm',
  infer(inputs) {
    const [x, weight] = [operand(inputs, 0), operand(inputs, 1)];
    expectFloat('rms_norm', x);
    expectSameDType('rms_norm', x, weight);
    expectThat(sameShape(weight.shape, x.shape.slice(-1)), 'rms_norm', 'x […,D] and weight [D]', x, weight);
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('SimplifiedLayerNormalization', from, {
      outputs: to,
      attributes: { axis: { int: -1 }, epsilon: { float: attributes.epsilon } },
    });
  },
  gradient: vjp((g, { inputs, attributes }) => applyAll(rmsNormGradOp, [g, ...inputs], attributes)),
});

/** x […,rows,D], weight [D]; epsilon as in the model's configuration. */
export const rmsNorm = (x: Value, weight: Value, epsilon: number): Value =>
  apply(rmsNormOp, [x, weight], { epsilon });

/**
 * With r the inverse RMS of a row, u = g x and c = <u, w> r^3 / D of that row: dw = sum over rows of r u,
 * dx = r g w - c x. Both sums are products with a vector: summing columns with ReduceSum takes six times as long.
 */
const rmsNormGradOp = defineOp<RmsNormAttributes>({
  name: 'rms_norm_grad',
  infer(inputs) {
    const [x, weight] = [operand(inputs, 1), operand(inputs, 2)];
    return [x, weight].map(({ dtype, shape }) => ({ dtype, shape }));
  },
  emit(emitter, { inputs, from, to, attributes }) {
    const type = operand(inputs, 1);
    const width = sizeAt(type.shape, -1);
    const rows = elementCount(type.shape) / width;
    const reshaped = (name: string, shape: number[], outputs?: string[]) =>
      emitter.node('Reshape', [name, emitter.int64s(shape)], { outputs });
    const [gName, xName, weight] = from as [string, string, string];
    const [g, x] = [reshaped(gName, [rows, width]), reshaped(xName, [rows, width])];
    const inverse = emitInverseRms(emitter, x, type, attributes.epsilon);
    const gx = emitter.node('Mul', [g, x]);
    const dWeight = emitter.node('MatMul', [reshaped(inverse, [1, rows]), gx]);
    reshaped(dWeight, [width], [to[1] as string]);
    const dot = emitter.node('MatMul', [gx, reshaped(weight, [width, 1])]);
    const square = emitter.node('Mul', [inverse, inverse]);
    const cube = emitter.node('Mul', [
      square,
      emitter.node('Mul', [inverse, emitter.scalar(1 / width, type)]),
    ]);
    const radial = emitter.node('Mul', [x, emitter.node('Mul', [dot, cube])]);
    const straight = emitter.node('Mul', [emitter.node('Mul', [g, weight]), inverse]);
    reshaped(emitter.node('Sub', [straight, radial]), [...type.shape], [to[0] as string]);
  },
  gradient: firstOrderOnly,
});

/** 1 / sqrt(mean(x^2) + epsilon) of each row of x [rows,width]: [rows,1]. */
function emitInverseRms(emitter: Emitter, x: string, type: Value, epsilon: number): string {
  const meanSquare = emitter.node('ReduceMean', [emitter.node('Mul', [x, x]), emitter.int64s([-1])]);
  const shifted = emitter.node('Add', [meanSquare, emitter.scalar(epsilon, type)]);
  return emitter.node('Reciprocal', [emitter.node('Sqrt', [shifted])]);
}
