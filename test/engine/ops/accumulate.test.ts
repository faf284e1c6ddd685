// Gradients accumulate into the buffer that they are read from: a product or a scatter with its addend bound in
// place adds exactly what it adds out of place, over several micro-batches and at a size that goes parallel.
import { describe, expect, it } from 'vitest';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import type { Value } from '../../../runner/engine/graph/graph.ts';
import { gradients } from '../../../runner/engine/graph/grad.ts';
import { serialize } from '../../../runner/engine/onnx/serialize.ts';
import { accumulate } from '../../../runner/engine/ops/accumulate.ts';
import { add } from '../../../runner/engine/ops/arithmetic.ts';
import { gatherRows } from '../../../runner/engine/ops/gather.ts';
import { gemm } from '../../../runner/engine/ops/matmul.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { TensorData } from '../../../runner/engine/ort/runtime.ts';
import { evaluate } from '../graph/compiled-graph.ts';

type Join = (into: Value, gradient: Value) => Value;

function productGradient(join: Join): Graph {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [513, 260]);
  const weight = graph.input('weight', 'float32', [301, 260]);
  const y = gemm(x, weight, { transB: true });
  const [dw] = gradients([{ value: y, cotangent: graph.input('dy', 'float32', y.shape) }], [weight]);
  graph.output('sum', join(graph.input('into', 'float32', weight.shape), dw as Value));
  return graph;
}

function lookupGradient(join: Join): Graph {
  const graph = new Graph();
  const table = graph.input('table', 'float32', [97, 64]);
  const y = gatherRows(table, graph.input('at', 'int32', [3, 700]));
  const [dTable] = gradients([{ value: y, cotangent: graph.input('dy', 'float32', y.shape) }], [table]);
  graph.output('sum', join(graph.input('into', 'float32', table.shape), dTable as Value));
  return graph;
}

const feedsFor = (graph: Graph): Record<string, TensorData> =>
  Object.fromEntries(
    [...graph.inputs].map(([name, { dtype, shape }]) => {
      const count = shape.reduce((product, size) => product * size, 1);
      const element = (i: number) => (dtype === 'int32' ? (i * 31) % 97 : Math.sin(i * 0.7 + count));
      const data = dtype === 'int32' ? new Int32Array(count) : new Float32Array(count);
      return [name, data.map((_, i) => element(i))];
    }),
  );

describe.each([
  ['product', productGradient, 'gemm', 1e-5],
  ['scatter', lookupGradient, 'scatter_add_rows', 1e-5],
] as const)('%s', (_name, build, op, tolerance) => {
  it('takes the addend into the op itself', () => {
    const graph = build(accumulate);
    expect(graph.outputs.get('sum')?.producer?.op.name).toBe(op);
  });

  it('equals a sum made apart', async () => {
    using runtime = createRuntime({ threads: 2 });
    const [fused, apart] = [build(accumulate), build(add)];
    const feeds = feedsFor(fused);
    const [actual, reference] = [
      (await evaluate(runtime, fused, feeds))['sum'] as Float32Array,
      (await evaluate(runtime, apart, feeds))['sum'] as Float32Array,
    ];
    const scale = reference.reduce((max, x) => Math.max(max, Math.abs(x)), 0);
    const error = actual.reduce((max, x, i) => Math.max(max, Math.abs(x - (reference[i] as number))), 0);
    expect(error / scale).toBeLessThan(tolerance);
  });

  it('gives the same bits when the sum is bound to the addend, three times over', async () => {
    using runtime = createRuntime({ threads: 2 });
    const graph = build(accumulate);
    const feeds = feedsFor(graph);
    let apart = feeds['into'] as Float32Array;
    for (let batch = 0; batch < 3; batch++) {
      apart = (await evaluate(runtime, graph, { ...feeds, into: apart }))['sum'] as Float32Array;
    }
    using session = await runtime.createSession(serialize(graph), { label: 'in place' });
    const tensors = Object.fromEntries(
      [...graph.inputs].map(([name, { dtype, shape }]) => [
        name,
        runtime.tensor(dtype, shape, (feeds[name] as TensorData).slice()),
      ]),
    );
    const into = tensors['into'];
    if (!into) throw new Error('the graph has no input into');
    using binding = session.bind(tensors, { sum: into });
    for (let batch = 0; batch < 3; batch++) binding.runSync();
    expect(into.data).toEqual(apart);
    for (const tensor of Object.values(tensors)) tensor[Symbol.dispose]();
  });
});

describe('accumulate', () => {
  it('falls back to a sum where nothing can take the addend', () => {
    const graph = new Graph();
    const [a, b] = [graph.input('a', 'float32', [2]), graph.input('b', 'float32', [2])];
    expect(accumulate(a, b).producer?.op.name).toBe('add');
  });
});
