// Softmax and log-softmax over the last axis, and the softmax of causally masked attention scores.
import { apply } from '../graph/graph.ts';
import type { Value, ValueType } from '../graph/graph.ts';
import { expectFloat, expectThat, operand } from '../graph/expect.ts';
import { defineOp, firstOrderOnly, vjp } from '../graph/op.ts';
import type { Emitter } from '../graph/op.ts';
import { sizeAt } from '../graph/shape.ts';
import { mul, sub } from './arithmetic.ts';
import { reduceSum } from './broadcast.ts';
import { exp } from './unary.ts';

const lastAxis = { axis: { int: -1 } } as const;

const softmaxOp = defineOp<undefined>({
  name: 'softmax',
  infer(inputs) {
    const x = operand(inputs, 0);
    expectFloat('softmax', x);
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit: (emitter, { from, to }) => void emitter.node('Softmax', from, { outputs: to, attributes: lastAxis }),
  gradient: vjp((g, { outputs }) => [softmaxGradient(g, operand(outputs, 0))]),
});

/** Over the last axis. */
export const softmax = (x: Value): Value => apply(softmaxOp, [x], undefined);

/** y (g - sum(g y)), y being the softmax: written as gy - y sum(gy), the product gy made once. */
const softmaxGradOp = defineOp<undefined>({
  name: 'softmax_grad',
  infer: ([g]) => [{ dtype: (g as Value).dtype, shape: (g as Value).shape }],
  emit(emitter, { from, to }) {
    const [g, y] = from as [string, string];
    const product = emitter.node('Mul', [g, y]);
    const sum = emitter.node('ReduceSum', [product, emitter.int64s([-1])]);
    emitter.node('Sub', [product, emitter.node('Mul', [y, sum])], { outputs: to });
  },
  gradient: firstOrderOnly,
});

const softmaxGradient = (g: Value, y: Value): Value => apply(softmaxGradOp, [g, y], undefined);

const logSoftmaxOp = defineOp<undefined>({
  name: 'log_softmax',
  infer(inputs) {
    const x = operand(inputs, 0);
    expectFloat('log_softmax', x);
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit: (emitter, { from, to }) =>
    void emitter.node('LogSoftmax', from, { outputs: to, attributes: lastAxis }),
  gradient: vjp((g, { outputs }) => {
    const y = operand(outputs, 0);
    return [sub(g, mul(exp(y), reduceSum(g, [-1], true)))];
  }),
});

/** Over the last axis. */
export const logSoftmax = (x: Value): Value => apply(logSoftmaxOp, [x], undefined);

interface CausalAttributes {
  readonly queries: number;
  /** Position of the first query; where it is a second input instead, 0. */
  readonly offset: number;
}

const causalSoftmaxOp = defineOp<CausalAttributes>({
  name: 'causal_softmax',
  infer(inputs, { queries, offset }) {
    const x = operand(inputs, 0);
    expectFloat('causal_softmax', x);
    const position = inputs[1];
    if (position !== undefined) {
      const isIndex = position.dtype === 'int32' && position.shape.length === 0;
      expectThat(isIndex, 'causal_softmax', 'an offset int32[]', position);
    }
    const stacked = x.shape.length >= 2 && sizeAt(x.shape, -2) % queries === 0 && offset >= 0;
    expectThat(stacked, 'causal_softmax', `scores […, heads * ${queries}, keys]`, x);
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit: (emitter, { inputs, from, to, attributes }) =>
    emitCausalSoftmax(emitter, operand(inputs, 0), from[0] as string, to[0] as string, {
      queries: attributes.queries,
      offset: from[1] ?? attributes.offset,
    }),
  // Where the mask forbids, the softmax is 0 and so is its gradient.
  gradient: vjp((g, { outputs }) => [softmaxGradient(g, operand(outputs, 0)), undefined]),
});

interface CausalEmission {
  readonly queries: number;
  /** A number, or the name of a tensor that holds it. */
  readonly offset: number | string;
}

/** Scores of the given type by name, their probabilities by name. */
export function emitCausalSoftmax(
  emitter: Emitter,
  type: ValueType,
  scores: string,
  to: string,
  attributes: CausalEmission,
): void {
  const perHead = emitter.int64s([-1, attributes.queries, sizeAt(type.shape, -1)]);
  const heads = emitter.node('Reshape', [scores, perHead]);
  const masked = emitter.node('Add', [heads, causalMask(emitter, type, attributes)]);
  const rows = emitter.node('Reshape', [masked, emitter.int64s(type.shape)]);
  emitter.node('Softmax', [rows], { outputs: [to], attributes: lastAxis });
}

/** [queries, keys]: 0 where query i may see key j, else so negative that its exponential is 0: j <= offset + i. */
function causalMask(emitter: Emitter, scores: ValueType, { queries, offset }: CausalEmission): string {
  const first = typeof offset === 'string' ? offset : emitter.int32(offset);
  const last = emitter.node('Add', [emitter.iota([queries, 1]), first]);
  const hidden = emitter.node('Greater', [emitter.iota([1, sizeAt(scores.shape, -1)]), last]);
  return emitter.node('Where', [hidden, emitter.scalar(-1e30, scores), emitter.scalar(0, scores)]);
}

export interface CausalOptions {
  /** Rows that belong to one head; several heads may be stacked on the row axis. Default: all rows. */
  readonly queries?: number;
  /** Position of the first query among the keys, for attention over query chunks: a number, or int32 []. Default 0. */
  readonly offset?: number | Value;
}

/**
 * Softmax over keys of scores […, heads * queries, keys] (already scaled: scale the queries, that is cheaper), where
 * query i sees the keys up to offset + i.
 */
export function causalSoftmax(scores: Value, options: CausalOptions = {}): Value {
  const { queries = scores.shape.at(-2) ?? 1, offset = 0 } = options;
  return typeof offset === 'number'
    ? apply(causalSoftmaxOp, [scores], { queries, offset })
    : apply(causalSoftmaxOp, [scores, offset], { queries, offset: 0 });
}
