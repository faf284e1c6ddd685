// RMS normalisation over the last axis: y = w x / sqrt(mean(x^2) + eps). SimplifiedLayerNormalization does the
// forward in one pass; its second output (the inverse RMS) is not filled by every provider, so the gradient
// computes it again from x.
import { apply, applyAll } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, firstOrderOnly, vjp } from '../graph/op.ts';
import { sameShape, sizeAt } from '../graph/shape.ts';

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
 * With r the inverse RMS of a row, n = x r and c = <g n, w> / D of that row:
 * dw = sum over rows of g n, dx = r (g w - n c). The row sums c are a product with the vector w.
 */
const rmsNormGradOp = defineOp<RmsNormAttributes>({
  name: 'rms_norm_grad',
  infer(inputs) {
    const [x, weight] = [operand(inputs, 1), operand(inputs, 2)];
    return [x, weight].map(({ dtype, shape }) => ({ dtype, shape }));
  },
  emit(emitter, { inputs, from, to, attributes }) {
    const x = operand(inputs, 1);
    const [gName, xName, weight] = from as [string, string, string];
    const width = sizeAt(x.shape, -1);
    const meanSquare = emitter.node('ReduceMean', [
      emitter.node('Mul', [xName, xName]),
      emitter.int64s([-1]),
    ]);
    const shifted = emitter.node('Add', [meanSquare, emitter.scalar(attributes.epsilon, x)]);
    const inverse = emitter.node('Reciprocal', [emitter.node('Sqrt', [shifted])]);
    const normal = emitter.node('Mul', [xName, inverse]);
    const gNormal = emitter.node('Mul', [gName, normal]);
    const rowAxes = x.shape.slice(0, -1).map((_, axis) => axis);
    emitter.node('ReduceSum', [gNormal, emitter.int64s(rowAxes)], {
      outputs: [to[1] as string],
      attributes: { keepdims: { int: 0 } },
    });
    const column = emitter.node('Reshape', [weight, emitter.int64s([width, 1])]);
    const dot = emitter.node('MatMul', [gNormal, column]);
    const mean = emitter.node('Mul', [dot, emitter.scalar(1 / width, x)]);
    const straight = emitter.node('Mul', [gName, weight]);
    const radial = emitter.node('Mul', [normal, mean]);
    const across = emitter.node('Sub', [straight, radial]);
    emitter.node('Mul', [across, inverse], { outputs: [to[0] as string] });
  },
  gradient: firstOrderOnly,
});
