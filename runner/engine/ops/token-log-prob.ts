// Log-probability of given tokens under softmax(logits / temperature), with the gradient written out:
// d logp / d logits = (onehot(target) - softmax) / temperature. No one-hot matrix and no scatter is made.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectIndices, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, firstOrderOnly, vjp } from '../graph/op.ts';
import type { Emitter } from '../graph/op.ts';
import { sameShape, sizeAt } from '../graph/shape.ts';

const lastAxis = { axis: { int: -1 } } as const;

const tokenLogProbOp = defineOp<undefined>({
  name: 'token_log_prob',
  infer(inputs) {
    const [logits, targets, scale] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    expectFloat('token_log_prob', logits);
    expectIndices('token_log_prob', targets);
    expectSameDType('token_log_prob', logits, scale);
    const fits = logits.shape.length === 2 && sameShape(targets.shape, logits.shape.slice(0, 1));
    expectThat(
      fits && scale.shape.length === 0,
      'token_log_prob',
      'logits [T,V], targets [T], a scalar',
      logits,
      targets,
      scale,
    );
    return [{ dtype: logits.dtype, shape: targets.shape }];
  },
  emit(emitter, { inputs, from, to }) {
    const [logits, targets, scale] = from as [string, string, string];
    const rows = sizeAt(operand(inputs, 0).shape, 0);
    const scaled = emitScaled(emitter, operand(inputs, 2), logits, scale);
    const logProbs = emitter.node('LogSoftmax', [scaled], { attributes: lastAxis });
    const column = emitter.node('Reshape', [targets, emitter.int64s([rows, 1])]);
    const chosen = emitter.node('GatherElements', [logProbs, column], { attributes: lastAxis });
    emitter.node('Reshape', [chosen, emitter.int64s([rows])], { outputs: to });
  },
  gradient: vjp((g, { inputs, outputs }) => {
    const logits = apply(tokenLogProbGradOp, [g, operand(outputs, 0), ...inputs], undefined);
    return [logits, undefined, undefined];
  }),
});

/**
 * logits [T,V], targets [T] of int32, inverse temperature (a number, or a scalar that each run sets): log-probability
 * of each target [T]. The gradient flows to the logits only.
 */
export function tokenLogProb(logits: Value, targets: Value, inverseTemperature: Value | number): Value {
  return apply(tokenLogProbOp, [logits, targets, scalarOf(logits, inverseTemperature)], undefined);
}

/** With h = g / temperature: h (1 - p) at the target and -h p elsewhere, p being the softmax. */
const tokenLogProbGradOp = defineOp<undefined>({
  name: 'token_log_prob_grad',
  infer: (inputs) => [{ dtype: operand(inputs, 2).dtype, shape: operand(inputs, 2).shape }],
  emit(emitter, { inputs, from, to }) {
    const [g, logProb, logits, targets, scale] = from as [string, string, string, string, string];
    const type = operand(inputs, 2);
    const [rows, words] = [sizeAt(type.shape, 0), sizeAt(type.shape, 1)];
    const columnShape = emitter.int64s([rows, 1]);
    const column = (name: string) => emitter.node('Reshape', [name, columnShape]);
    const scaled = emitScaled(emitter, operand(inputs, 4), logits, scale);
    const softmax = emitter.node('Softmax', [scaled], { attributes: lastAxis });
    const h = column(emitter.node('Mul', [g, scale]));
    const elsewhere = emitter.node('Mul', [softmax, emitter.node('Neg', [h])]);
    const complement = emitter.node('Sub', [emitter.scalar(1, type), emitter.node('Exp', [logProb])]);
    const atTarget = emitter.node('Mul', [h, column(complement)]);
    const isTarget = emitter.node('Equal', [
      column(emitter.node('Cast', [targets], { attributes: { to: { int: 6 } } })),
      emitter.iota([1, words]),
    ]);
    emitter.node('Where', [isTarget, atTarget, elsewhere], { outputs: to });
  },
  gradient: firstOrderOnly,
});

const entropyOp = defineOp<undefined>({
  name: 'entropy',
  infer(inputs) {
    const [logits, scale] = [operand(inputs, 0), operand(inputs, 1)];
    expectFloat('entropy', logits);
    expectSameDType('entropy', logits, scale);
    return [{ dtype: logits.dtype, shape: logits.shape.slice(0, -1) }];
  },
  emit(emitter, { inputs, from, to }) {
    const scaled = emitScaled(emitter, operand(inputs, 1), from[0] as string, from[1] as string);
    const logProbs = emitter.node('LogSoftmax', [scaled], { attributes: lastAxis });
    const terms = emitter.node('Mul', [emitter.node('Exp', [logProbs]), logProbs]);
    const sum = emitter.node('ReduceSum', [terms, emitter.int64s([-1])], {
      attributes: { keepdims: { int: 0 } },
    });
    emitter.node('Neg', [sum], { outputs: to });
  },
  gradient: { missing: 'it is reported only; no objective here has an entropy term' },
});

/** Entropy in nats of softmax(logits / temperature) over the last axis. For reports: it has no gradient. */
export function entropy(logits: Value, inverseTemperature: Value | number): Value {
  return apply(entropyOp, [logits, scalarOf(logits, inverseTemperature)], undefined);
}

const scalarOf = (like: Value, x: Value | number): Value =>
  typeof x === 'number' ? like.graph.scalar(x, like.dtype) : x;

/** Temperature 1 given as a number costs no pass over the logits. */
function emitScaled(emitter: Emitter, scale: Value, logits: string, scaleName: string): string {
  return scale.data?.[0] === 1 ? logits : emitter.node('Mul', [logits, scaleName]);
}
