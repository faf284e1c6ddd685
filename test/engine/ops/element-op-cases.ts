// One case or more for every op. Small sizes are odd on purpose; large ones make each kernel split over threads.
import { add, div, mul, neg, sub } from '../../../runner/engine/ops/arithmetic.ts';
import { expand, reduceSum } from '../../../runner/engine/ops/broadcast.ts';
import { and, cast, equal, greater, less, not, or, where } from '../../../runner/engine/ops/compare.ts';
import { exp, log, pow, sigmoid, sqrt, square } from '../../../runner/engine/ops/unary.ts';
import { reduceMax, reduceMean, argmax, cumsum, topk } from '../../../runner/engine/ops/reduce.ts';
import { reshape, transpose } from '../../../runner/engine/ops/shape.ts';
import { concat, pad, slice, split } from '../../../runner/engine/ops/slice.ts';
import { around, frozen, get, positive } from './op-case.ts';
import type { OpCase, Size, Values } from './op-case.ts';
import type { Value } from '../../../runner/engine/graph/graph.ts';

/** Rows and columns of a matrix case. */
const matrix = (size: Size): [number, number] => (size === 'small' ? [3, 5] : [1031, 517]);

const unary = (name: string, build: (x: Value) => Value | readonly Value[], spec = around): OpCase => ({
  name,
  inputs: (size) => ({ x: spec(matrix(size)) }),
  build: (values) => build(get(values, 'x')),
});

const binaryCases = (name: string, build: (a: Value, b: Value) => Value, spec = around): OpCase[] => {
  const expression = (values: Values) => build(get(values, 'a'), get(values, 'b'));
  return [
    {
      name: `${name}: equal shapes`,
      inputs: (size) => ({ a: spec(matrix(size)), b: spec(matrix(size)) }),
      build: expression,
    },
    {
      name: `${name}: row against column`,
      inputs: (size) => ({ a: spec([matrix(size)[0], 1]), b: spec([matrix(size)[1]]) }),
      build: expression,
    },
    {
      name: `${name}: scalar and leading axis`,
      inputs: (size) => ({ a: spec([]), b: spec([2, ...matrix(size)]) }),
      build: expression,
    },
  ];
};

const arithmeticCases: OpCase[] = [
  ...binaryCases('add', add),
  ...binaryCases('sub', sub),
  ...binaryCases('mul', mul),
  ...binaryCases('div', div, positive),
  unary('neg', neg),
  unary('add: the same operand twice', (x) => add(x, x)),
  unary('mul: number operand', (x) => mul(0.25, x)),
  unary('sqrt', sqrt, positive),
  unary('exp', exp),
  unary('log', log, positive),
  unary('square', square),
  unary('pow: cube', (x) => pow(x, 3)),
  unary('pow: inverse root', (x) => pow(x, -0.5), positive),
  unary('sigmoid', sigmoid),
];

const choiceCases: OpCase[] = [
  {
    name: 'where, less, and, not',
    inputs: (size) => ({
      a: around(matrix(size)),
      b: around([matrix(size)[1]]),
      limit: frozen(around(matrix(size))),
    }),
    build: (values) => {
      const [a, b, limit] = [get(values, 'a'), get(values, 'b'), get(values, 'limit')];
      return where(and(less(limit, 0.5), not(less(limit, -0.5))), a, b);
    },
  },
  {
    name: 'where: number branches',
    inputs: (size) => ({ a: around(matrix(size)) }),
    build: (values) => {
      const a = get(values, 'a');
      return where(or(greater(a, 0.6), less(a, -0.9)), a, 0.5);
    },
  },
  {
    name: 'equal and cast',
    inputs: (size) => ({ a: around(matrix(size)), same: frozen(around(matrix(size))) }),
    build: (values) =>
      mul(get(values, 'a'), cast(equal(get(values, 'same'), get(values, 'same')), get(values, 'a').dtype)),
  },
  unary('cast: there and back', (x) => cast(cast(x, 'float64'), x.dtype)),
];

const viewCases: OpCase[] = [
  unary('reshape', (x) => mul(reshape(x, [-1]), 2)),
  {
    name: 'transpose: heads',
    inputs: (size) => ({ x: around(size === 'small' ? [2, 3, 2, 5] : [8, 256, 8, 64]) }),
    build: (values) => transpose(get(values, 'x'), [0, 2, 1, 3]),
  },
  {
    name: 'transpose: a cycle',
    inputs: (size) => ({ x: around(size === 'small' ? [2, 3, 4] : [64, 128, 96]) }),
    build: (values) => transpose(get(values, 'x'), [1, 2, 0]),
  },
  {
    name: 'expand',
    inputs: (size) => ({ x: around([matrix(size)[0], 1]) }),
    build: (values) => expand(get(values, 'x'), [2, get(values, 'x').shape[0] as number, 7]),
  },
  unary('slice', (x) => slice(x, -1, 1, 4)),
  unary('pad', (x) => pad(x, 0, 2, 1)),
  {
    name: 'concat',
    inputs: (size) => ({ a: around(matrix(size)), b: around([2, matrix(size)[1]]) }),
    build: (values) => concat([get(values, 'a'), get(values, 'b')], 0),
  },
  unary('split', (x) => split(x, 1, [2, (x.shape[1] as number) - 2])),
  unary('split: one part unused', (x) => split(x, 1, [1, (x.shape[1] as number) - 1])[1] as Value),
];

const reductionCases: OpCase[] = [
  unary('reduce_sum: all', (x) => reduceSum(x)),
  unary('reduce_sum: rows', (x) => reduceSum(x, [0])),
  unary('reduce_sum: columns kept', (x) => reduceSum(x, [-1], true)),
  unary('reduce_mean: rows', (x) => reduceMean(x, [0])),
  unary('reduce_mean: columns kept', (x) => reduceMean(x, [-1], true)),
  unary('reduce_max: columns', (x) => reduceMax(x, [-1])),
  unary('reduce_max: rows kept', (x) => reduceMax(x, [0], true)),
  unary('cumsum', (x) => cumsum(x, 1)),
  unary('cumsum: exclusive, reverse', (x) => cumsum(x, 0, { exclusive: true, reverse: true })),
  unary('topk', (x) => {
    const { values, indices } = topk(x, 3);
    return add(values, mul(cast(indices, x.dtype), 0.1));
  }),
  { ...unary('argmax', (x) => argmax(x, -1)), inputs: (size) => ({ x: frozen(around(matrix(size))) }) },
];

export const elementCases: OpCase[] = [...arithmeticCases, ...choiceCases, ...viewCases, ...reductionCases];
