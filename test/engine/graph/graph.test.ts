// Mistakes in building a graph are found at build time and name the op, the shapes and what was expected.
import { describe, expect, it } from 'vitest';
import { gradients } from '../../../runner/engine/graph/grad.ts';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { add, div, mul } from '../../../runner/engine/ops/arithmetic.ts';
import { argmax } from '../../../runner/engine/ops/reduce.ts';
import { cast } from '../../../runner/engine/ops/compare.ts';
import { gatherRows } from '../../../runner/engine/ops/gather.ts';
import { gemm, matmul } from '../../../runner/engine/ops/matmul.ts';
import { reshape, transpose } from '../../../runner/engine/ops/shape.ts';
import { split } from '../../../runner/engine/ops/slice.ts';
import { sigmoid } from '../../../runner/engine/ops/unary.ts';
import { tokenLogProb } from '../../../runner/engine/ops/token-log-prob.ts';

const float = (graph: Graph, name: string, ...shape: number[]) => graph.input(name, 'float32', shape);

describe('shape rules', () => {
  const graph = new Graph();
  const a = float(graph, 'a', 3, 4);
  const b = float(graph, 'b', 5, 6);
  const ids = graph.input('ids', 'int32', [2]);

  it.each([
    ['add', () => add(a, b), 'add: shapes [3,4] and [5,6] do not broadcast'],
    ['add dtype', () => add(a, ids), 'add: expected one dtype, got float32[3,4] and int32[2]'],
    ['matmul', () => matmul(a, b), 'matmul: expected […,M,K] and […,K,N], got float32[3,4] and float32[5,6]'],
    [
      'gemm',
      () => gemm(a, b, { transB: true }),
      'gemm: expected [M,K] and [N,K], got float32[3,4] and float32[5,6]',
    ],
    ['reshape', () => reshape(a, [5]), 'reshape: expected as many elements as in [5], got float32[3,4]'],
    [
      'transpose',
      () => transpose(a, [0, 0]),
      'transpose: expected a rank that [0,0] permutes, got float32[3,4]',
    ],
    ['split', () => split(a, 1, [1, 2]), 'split: expected axis 1 to be the sum of [1,2], got float32[3,4]'],
    ['gather_rows', () => gatherRows(a, b), 'gather_rows: expected int32 or int64 indices, got float32[5,6]'],
    [
      'token_log_prob',
      () => tokenLogProb(a, ids, 1),
      'token_log_prob: expected logits [T,V], targets [T], a scalar',
    ],
  ])('%s', (_name, build, message) => expect(build).toThrow(message));
});

describe('declarations', () => {
  it('refuses an input twice, an output twice, data of the wrong size, values of another graph', () => {
    const graph = new Graph();
    const x = float(graph, 'x', 2);
    graph.output('y', add(x, 1));
    expect(() => float(graph, 'x', 2)).toThrow("input 'x' is declared twice");
    expect(() => graph.output('y', x)).toThrow("output name 'y' is already taken");
    expect(() => graph.constant('float32', [3], new Float32Array(2))).toThrow(
      'constant float32[3] needs Float32Array of 3, got Float32Array of 2',
    );
    expect(() => add(x, float(new Graph(), 'z', 2))).toThrow('add: its inputs belong to different graphs');
  });
});

describe('gradients', () => {
  it('names the op that has no rule', () => {
    const graph = new Graph();
    const x = float(graph, 'x', 2);
    const y = sigmoid(x);
    const [first] = gradients([{ value: y, cotangent: graph.filled([2], 1) }], [x]);
    const seed = { value: first as typeof x, cotangent: graph.filled([2], 1) };
    expect(() => gradients([seed], [x])).toThrow("gradients: op 'sigmoid_grad' has no gradient");
  });

  it('refuses a wrt that influences no seed, also through an op that is flat', () => {
    const graph = new Graph();
    const [x, z] = [float(graph, 'x', 2), float(graph, 'z', 2)];
    const seed = { value: mul(x, 2), cotangent: graph.filled([2], 1) };
    expect(() => gradients([seed], [x, z])).toThrow('gradients: wrt 1 (z float32[2]) influences no seed');
    const flat = { value: cast(argmax(z, 0), 'float32'), cotangent: graph.scalar(1) };
    expect(() => gradients([flat], [z])).toThrow('gradients: wrt 0 (z float32[2]) influences no seed');
  });

  it('refuses a cotangent of another shape', () => {
    const graph = new Graph();
    const x = float(graph, 'x', 2);
    expect(() => gradients([{ value: x, cotangent: graph.scalar(1) }], [x])).toThrow(
      'gradients: float32[2] cannot have the cotangent float32[]',
    );
  });

  it('does not walk into what no wrt influences', () => {
    const graph = new Graph();
    const [x, z] = [float(graph, 'x', 2), float(graph, 'z', 2)];
    const before = graph.nodes.length;
    gradients([{ value: add(x, div(sigmoid(z), 3)), cotangent: graph.filled([2], 1) }], [x]);
    const added = graph.nodes.slice(before).map((node) => node.op.name);
    expect(added).toEqual(['sigmoid', 'div', 'add']);
  });
});
