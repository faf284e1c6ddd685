// Graph to ModelProto bytes: names every value, lets each op write its ONNX nodes, declares inputs and outputs.
// Only what the outputs need is written; declared inputs stay even when unused, so bindings need no special case.
import type { DType, TensorData } from '../ort/runtime.ts';
import { ancestors } from '../graph/graph.ts';
import type { Graph, Value, ValueType } from '../graph/graph.ts';
import type { Emitter, Node, NodeExtra } from '../graph/op.ts';
import type { Attribute, Attributes } from './attributes.ts';
import { attributeTypes, dataTypes, ModelProto } from './schema.ts';

const irVersion = 10;
const opsets = [
  { domain: '', version: 21 },
  { domain: 'com.microsoft', version: 1 },
];

/** Throws when the graph has no output. Protobuf limits a model, constants included, to 2 GB. */
export function serialize(graph: Graph, name = 'graph'): Uint8Array {
  if (graph.outputs.size === 0) throw new Error(`serialize '${name}': the graph has no output`);
  const writer = new GraphWriter(graph);
  writer.writeNodes();
  writer.writeOutputs();
  const graphProto = {
    name,
    node: writer.nodes,
    initializer: writer.initializers,
    input: [...graph.inputs].map(([inputName, value]) => valueInfo(inputName, value)),
    output: [...graph.outputs].map(([outputName, value]) => valueInfo(outputName, value)),
    value_info: writer.inner(),
  };
  return ModelProto.encode({
    ir_version: irVersion,
    producer_name: 'millrace',
    graph: graphProto,
    opset_import: opsets,
  } as any).finish();
}

class GraphWriter implements Emitter {
  readonly nodes: object[] = [];
  readonly initializers: object[] = [];
  readonly #graph: Graph;
  readonly #names = new Map<Value, string>();
  readonly #shared = new Map<string, string>();
  #fresh = 0;

  constructor(graph: Graph) {
    this.#graph = graph;
    for (const [name, value] of graph.inputs) this.#names.set(value, name);
    for (const [name, value] of graph.outputs) {
      // A result takes its output's name; inputs, constants and second names go through Identity in writeOutputs.
      if (value.producer && !this.#names.has(value)) this.#names.set(value, name);
    }
  }

  writeNodes(): void {
    for (const node of ancestors(this.#graph.outputs.values())) this.#writeNode(node);
  }

  writeOutputs(): void {
    for (const [name, value] of this.#graph.outputs) {
      const known = this.#nameOf(value);
      if (known !== name) this.node('Identity', [known], { outputs: [name] });
    }
  }

  /** The types of results that are no output: what a provider lacks is spelt out by rank (ort/webgpu-lowering.ts). */
  inner(): object[] {
    const outer = new Set(this.#graph.outputs.keys());
    return [...this.#names].flatMap(([value, name]) =>
      value.producer && !outer.has(name) ? [valueInfo(name, value)] : [],
    );
  }

  node(opType: string, inputs: readonly string[], extra: NodeExtra = {}): string {
    const outputs = extra.outputs ?? [this.#freshName(opType)];
    this.nodes.push({
      name: `${opType}_${this.nodes.length}`,
      op_type: opType,
      domain: extra.domain ?? '',
      input: inputs,
      output: outputs,
      attribute: attributeProtos(extra.attributes ?? {}),
    });
    return outputs[0] as string;
  }

  scalar(x: number, like: ValueType): string {
    const value = this.#graph.scalar(x, like.dtype);
    return this.#nameOf(value);
  }

  int64s(values: readonly number[]): string {
    return this.#share(`int64s ${values.join()}`, 'int64', [values.length], () =>
      BigInt64Array.from(values, BigInt),
    );
  }

  int32(value: number): string {
    return this.#share(`int32 ${value}`, 'int32', [], () => Int32Array.of(value));
  }

  iota(shape: readonly number[]): string {
    const count = shape.reduce((product, size) => product * size, 1);
    return this.#share(`iota ${shape.join()}`, 'int32', shape, () =>
      Int32Array.from({ length: count }, (_, index) => index),
    );
  }

  #writeNode(node: Node): void {
    const from = node.inputs.map((value) => this.#nameOf(value));
    const to = node.outputs.map((value) => this.#nameOf(value));
    node.op.emit(this, { ...node, from, to });
  }

  #nameOf(value: Value): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const name = this.#freshName(value.producer?.op.name ?? 'constant');
    this.#names.set(value, name);
    if (value.data) this.initializers.push(tensorProto(name, value.dtype, value.shape, value.data));
    return name;
  }

  #share(key: string, dtype: DType, shape: readonly number[], make: () => TensorData): string {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const name = this.#freshName('shared');
    this.#shared.set(key, name);
    this.initializers.push(tensorProto(name, dtype, shape, make()));
    return name;
  }

  /** The slash keeps generated names apart from those that callers choose. */
  #freshName(kind: string): string {
    return `/${kind}/${this.#fresh++}`;
  }
}

function valueInfo(name: string, value: ValueType): object {
  const dim = value.shape.map((size) => ({ dim_value: size }));
  return { name, type: { tensor_type: { elem_type: dataTypes[value.dtype], shape: { dim } } } };
}

function tensorProto(name: string, dtype: DType, shape: readonly number[], data: TensorData): object {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { name, dims: shape, data_type: dataTypes[dtype], raw_data: raw };
}

const attributeProtos = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([name, attribute]) => ({ name, ...attributeProto(attribute) }));

function attributeProto(attribute: Attribute): object {
  if ('int' in attribute) return { type: attributeTypes.int, i: attribute.int };
  if ('float' in attribute) return { type: attributeTypes.float, f: attribute.float };
  if ('ints' in attribute) return { type: attributeTypes.ints, ints: attribute.ints };
  return { type: attributeTypes.text, s: new TextEncoder().encode(attribute.text) };
}
