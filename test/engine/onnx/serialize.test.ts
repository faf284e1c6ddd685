// The writer's bytes parse back to what the graph says, and both ONNX Runtime and our own schema read them.
import { describe, expect, it } from 'vitest';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { ModelProto } from '../../../runner/engine/onnx/schema.ts';
import { serialize } from '../../../runner/engine/onnx/serialize.ts';
import { add, mul } from '../../../runner/engine/ops/arithmetic.ts';
import { gemm } from '../../../runner/engine/ops/matmul.ts';
import { silu } from '../../../runner/engine/ops/silu.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { evaluate } from '../graph/compiled-graph.ts';

interface ParsedModel {
  ir_version: string;
  opset_import: { domain: string; version: string }[];
  graph: {
    name: string;
    node: { op_type: string; domain?: string; input: string[]; output: string[]; attribute?: object[] }[];
    initializer: { name: string; dims?: string[]; data_type: number; raw_data: Uint8Array }[];
    input: { name: string; type: { tensor_type: object } }[];
    output: { name: string }[];
  };
}

const parse = (bytes: Uint8Array): ParsedModel =>
  ModelProto.toObject(ModelProto.decode(bytes), { longs: String, arrays: true }) as ParsedModel;

describe('serialize', () => {
  it('writes nodes, attributes, initializers and typed inputs that parse back', () => {
    const graph = new Graph();
    const x = graph.input('x', 'float32', [2, 3]);
    const weight = graph.constant(
      'float32',
      [4, 3],
      Float32Array.from({ length: 12 }, (_, i) => i / 4),
    );
    graph.output('y', silu(gemm(x, weight, { transB: true, alpha: 0.5 })));
    const model = parse(serialize(graph, 'head'));

    expect(model.ir_version).toBe('10');
    expect(model.opset_import.map(({ domain, version }) => `${domain ?? ''}:${version}`)).toEqual([
      ':21',
      'com.microsoft:1',
    ]);
    expect(model.graph.name).toBe('head');
    expect(model.graph.node.map((node) => node.op_type)).toEqual(['Gemm', 'QuickGelu']);
    expect(model.graph.node[0]?.attribute).toMatchObject([
      { name: 'transA', type: 2, i: '0' },
      { name: 'transB', type: 2, i: '1' },
      { name: 'alpha', type: 1, f: 0.5 },
    ]);
    expect(model.graph.node[1]).toMatchObject({ domain: 'com.microsoft', output: ['y'] });
    const [initializer] = model.graph.initializer;
    expect(initializer).toMatchObject({ dims: ['4', '3'], data_type: 1 });
    expect(new Float32Array(Uint8Array.from(initializer?.raw_data ?? []).buffer)).toEqual(weight.data);
    expect(model.graph.input[0]).toEqual({
      name: 'x',
      type: { tensor_type: { elem_type: 1, shape: { dim: [{ dim_value: '2' }, { dim_value: '3' }] } } },
    });
  });

  it('leaves out nodes that no output needs, and keeps declared inputs', () => {
    const graph = new Graph();
    const x = graph.input('x', 'float32', [2]);
    graph.input('unused', 'int32', [7]);
    mul(x, 3);
    graph.output('y', add(x, 1));
    const model = parse(serialize(graph));
    expect(model.graph.node.map((node) => node.op_type)).toEqual(['Add']);
    expect(model.graph.input.map((input) => input.name)).toEqual(['x', 'unused']);
  });

  it('serves an input, a constant and a value twice as outputs', async () => {
    using runtime = createRuntime({ threads: 2 });
    const graph = new Graph();
    const x = graph.input('x', 'float32', [2]);
    const doubled = mul(x, 2);
    graph.output('same', x);
    graph.output('fixed', graph.constant('int32', [2], Int32Array.of(5, -6)));
    graph.output('first', doubled);
    graph.output('second', doubled);
    const outputs = await evaluate(runtime, graph, { x: Float32Array.of(1, -2) });
    expect(outputs).toEqual({
      same: Float32Array.of(1, -2),
      fixed: Int32Array.of(5, -6),
      first: Float32Array.of(2, -4),
      second: Float32Array.of(2, -4),
    });
  });

  it('refuses a graph without outputs by name', () => {
    expect(() => serialize(new Graph(), 'empty')).toThrow("serialize 'empty': the graph has no output");
  });
});
