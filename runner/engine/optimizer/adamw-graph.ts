// AdamW over the elements of a tensor as one graph (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019,
// algorithm 2). What changes from step to step comes in as scalars, so one compiled graph serves a whole run.

import { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { elementCount } from '../graph/shape.ts';
import type { Shape } from '../graph/shape.ts';
import { add, div, mul, sub } from '../ops/arithmetic.ts';
import { reduceSum } from '../ops/broadcast.ts';
import { reshape } from '../ops/shape.ts';
import { sqrt, square } from '../ops/unary.ts';

/** Scalars of the graph, all float32 of rank 0. */
export interface AdamWScalars {
  readonly beta1: number;
  /** (1 - beta1) * s, s being the clipping scale of the gradient. */
  readonly gradientShare: number;
  readonly beta2: number;
  /** (1 - beta2) * s^2. */
  readonly squareShare: number;
  /** lr * sqrt(1 - beta2^t) / (1 - beta1^t): both bias corrections. */
  readonly stepSize: number;
  /** eps * sqrt(1 - beta2^t). */
  readonly epsilon: number;
  /** lr * weight decay. */
  readonly decay: number;
}

export const scalarNames = [
  'beta1',
  'gradientShare',
  'beta2',
  'squareShare',
  'stepSize',
  'epsilon',
  'decay',
] as const satisfies readonly (keyof AdamWScalars)[];

/** Partial sums are this long: float32 is accurate enough within one, the rest is added in float64. */
const partialSum = 4096;

/**
 * Sums of squares of x: one a row of 4096 elements where their number is a multiple of it, else one a row of its last axis.
 * The caller adds them in float64.
 */
function squareSums(x: Value): Value {
  const n = elementCount(x.shape);
  const columns = n % partialSum === 0 ? partialSum : x.shape.at(-1)!;
  return reduceSum(square(reshape(x, [n / columns, columns])), [1]);
}

/**
 * weight, gradient, first, second of one shape and the scalars -> new_weight, new_first, new_second, and update_squares,
 * the sums of squares of weight - new_weight. Each new_ output may be bound to its input's buffer: every other
 * reader of it is an ancestor of the writer.
 */
export function adamwGraph(shape: Shape): Graph {
  const graph = new Graph();
  const tensor = (name: string): Value => graph.input(name, 'float32', shape);
  const [weight, gradient, first, second] = ['weight', 'gradient', 'first', 'second'].map(tensor) as [
    Value,
    Value,
    Value,
    Value,
  ];
  const scalar = Object.fromEntries(
    scalarNames.map((name) => [name, graph.input(name, 'float32', [])]),
  ) as Record<keyof AdamWScalars, Value>;
  const newFirst = add(mul(first, scalar.beta1), mul(gradient, scalar.gradientShare));
  const newSecond = add(mul(second, scalar.beta2), mul(square(gradient), scalar.squareShare));
  const adaptive = mul(div(newFirst, add(sqrt(newSecond), scalar.epsilon)), scalar.stepSize);
  const update = add(adaptive, mul(weight, scalar.decay));
  graph.output('new_first', newFirst);
  graph.output('new_second', newSecond);
  graph.output('new_weight', sub(weight, update));
  graph.output('update_squares', squareSums(update));
  return graph;
}

/** x of any shape -> squares, its sums of squares. */
export function squareSumsGraph(shape: Shape): Graph {
  const graph = new Graph();
  graph.output('squares', squareSums(graph.input('x', 'float32', shape)));
  return graph;
}
