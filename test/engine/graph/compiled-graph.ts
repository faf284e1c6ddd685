// A graph compiled and bound to host tensors, for tests: set inputs, run, read outputs.
import type { Graph } from '../../../runner/engine/graph/graph.ts';
import { elementCount } from '../../../runner/engine/graph/shape.ts';
import { serialize } from '../../../runner/engine/onnx/serialize.ts';
import type { Binding, Runtime, Session, Tensor, TensorData } from '../../../runner/engine/ort/runtime.ts';

export class CompiledGraph implements Disposable {
  readonly #session: Session;
  readonly #binding: Binding;
  readonly #inputs: Map<string, Tensor>;
  readonly #outputs: Map<string, Tensor>;

  private constructor(
    session: Session,
    binding: Binding,
    inputs: Map<string, Tensor>,
    outputs: Map<string, Tensor>,
  ) {
    this.#session = session;
    this.#binding = binding;
    this.#inputs = inputs;
    this.#outputs = outputs;
  }

  static async compile(runtime: Runtime, graph: Graph, label = 'test'): Promise<CompiledGraph> {
    const session = await runtime.createSession(serialize(graph, label), { label });
    const allocate = (values: Graph['inputs']) =>
      new Map([...values].map(([name, { dtype, shape }]) => [name, runtime.tensor(dtype, shape)] as const));
    const [inputs, outputs] = [allocate(graph.inputs), allocate(graph.outputs)];
    const binding = session.bind(Object.fromEntries(inputs), Object.fromEntries(outputs));
    return new CompiledGraph(session, binding, inputs, outputs);
  }

  /** The live buffer of an input: what is written to it is read by the next run. */
  input(name: string): TensorData {
    return bufferOf(this.#inputs, name);
  }

  feed(values: Readonly<Record<string, TensorData>>): void {
    for (const [name, data] of Object.entries(values)) copy(data, this.input(name), name);
  }

  run(): void {
    this.#binding.runSync();
  }

  /** The live buffer of an output: the next run overwrites it. */
  output(name: string): TensorData {
    return bufferOf(this.#outputs, name);
  }

  outputs(): Record<string, TensorData> {
    return Object.fromEntries([...this.#outputs].map(([name, { data }]) => [name, data.slice()]));
  }

  [Symbol.dispose](): void {
    this.#binding[Symbol.dispose]();
    for (const tensor of [...this.#inputs.values(), ...this.#outputs.values()]) {
      tensor[Symbol.dispose]();
    }
    this.#session[Symbol.dispose]();
  }
}

/** Compiles, runs once and gives the outputs. */
export async function evaluate(
  runtime: Runtime,
  graph: Graph,
  feeds: Readonly<Record<string, TensorData>>,
): Promise<Record<string, TensorData>> {
  using compiled = await CompiledGraph.compile(runtime, graph);
  compiled.feed(feeds);
  compiled.run();
  return compiled.outputs();
}

function bufferOf(tensors: Map<string, Tensor>, name: string): TensorData {
  const tensor = tensors.get(name);
  if (!tensor) throw new Error(`no tensor '${name}' among ${[...tensors.keys()].join(', ')}`);
  return tensor.data;
}

function copy(from: TensorData, to: TensorData, name: string): void {
  if (from.length !== elementCount([to.length])) {
    throw new Error(`'${name}' holds ${to.length} elements, was given ${from.length}`);
  }
  for (let i = 0; i < from.length; i++) (to as Float64Array)[i] = (from as Float64Array)[i] as number;
}
