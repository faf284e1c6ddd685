// The graph that training steps are written in: typed values with static shapes, appended in topological order.
// It knows nothing about ONNX or about any particular op; ops append nodes, onnx/ serializes, grad.ts differentiates.
import type { DType, TensorData } from '../ort/runtime.ts';
import type { Node, Op } from './op.ts';
import { elementCount, formatShape } from './shape.ts';
import type { Shape } from './shape.ts';

export interface ValueType {
  readonly dtype: DType;
  readonly shape: Shape;
}

/** One tensor of a graph. Exactly one of `name` (an input), `data` (a constant) and `producer` (a result) is set. */
export interface Value extends ValueType {
  readonly graph: Graph;
  readonly id: number;
  readonly producer?: Node;
  readonly name?: string;
  readonly data?: TensorData;
}

const arrayOf = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
} as const;

export class Graph {
  readonly inputs = new Map<string, Value>();
  readonly outputs = new Map<string, Value>();
  /** In creation order, which is a topological order. */
  readonly nodes: Node[] = [];
  readonly #scalars = new Map<string, Value>();
  #nextId = 0;

  input(name: string, dtype: DType, shape: Shape): Value {
    if (this.inputs.has(name)) throw new Error(`graph: input '${name}' is declared twice`);
    elementCount(shape, `graph: input '${name}'`);
    const value: Value = { graph: this, id: this.#nextId++, dtype, shape: [...shape], name };
    this.inputs.set(name, value);
    return value;
  }

  constant(dtype: DType, shape: Shape, data: TensorData): Value {
    const count = elementCount(shape, 'graph: constant');
    if (!(data instanceof arrayOf[dtype]) || data.length !== count) {
      throw new Error(
        `graph: constant ${dtype}${formatShape(shape)} needs ${arrayOf[dtype].name} of ${count}, got ${data.constructor.name} of ${data.length}`,
      );
    }
    return { graph: this, id: this.#nextId++, dtype, shape: [...shape], data };
  }

  /** A rank-0 constant; the same number and dtype give the same value. */
  scalar(x: number, dtype: DType = 'float32'): Value {
    const key = `${dtype} ${Object.is(x, -0) ? '-0' : x}`;
    const known = this.#scalars.get(key);
    if (known) return known;
    const value = this.constant(dtype, [], filledData(dtype, 1, x));
    this.#scalars.set(key, value);
    return value;
  }

  /** Every element is `x`. For large shapes prefer broadcasting a scalar: this stores all elements in the model. */
  filled(shape: Shape, x: number, dtype: DType = 'float32'): Value {
    return this.constant(dtype, shape, filledData(dtype, elementCount(shape, 'graph: filled'), x));
  }

  output(name: string, value: Value): void {
    if (value.graph !== this) throw new Error(`graph: output '${name}' belongs to another graph`);
    if (this.outputs.has(name) || this.inputs.has(name)) {
      throw new Error(`graph: output name '${name}' is already taken`);
    }
    this.outputs.set(name, value);
  }

  /** Appends one node; what op functions call after sorting out their arguments. */
  append<A>(op: Op<A>, inputs: readonly Value[], attributes: A): readonly Value[] {
    for (const value of inputs) {
      if (value.graph !== this) throw new Error(`${op.name}: its inputs belong to different graphs`);
    }
    const types = op.infer(inputs, attributes);
    const outputs: Value[] = [];
    const node: Node<A> = { op, inputs: [...inputs], attributes, outputs };
    for (const type of types) {
      outputs.push({ graph: this, id: this.#nextId++, dtype: type.dtype, shape: type.shape, producer: node });
    }
    this.nodes.push(node);
    return outputs;
  }
}

/** Appends a node of a one-output op to the graph of its first input. */
export function apply<A>(op: Op<A>, inputs: readonly Value[], attributes: A): Value {
  const [output] = applyAll(op, inputs, attributes);
  if (!output) throw new Error(`internal: ${op.name} inferred no output`);
  return output;
}

export function applyAll<A>(op: Op<A>, inputs: readonly Value[], attributes: A): readonly Value[] {
  const [first] = inputs;
  if (!first) throw new Error(`internal: ${op.name} was applied to nothing`);
  return first.graph.append(op, inputs, attributes);
}

/** Nodes that the given values need, in topological order. `stop` ends the walk at a value (it is not entered). */
export function ancestors(values: Iterable<Value>, stop?: (value: Value) => boolean): Node[] {
  const needed = new Set<Node>();
  const pending = [...values];
  for (let value = pending.pop(); value; value = pending.pop()) {
    const { producer } = value;
    if (!producer || needed.has(producer) || stop?.(value)) continue;
    needed.add(producer);
    pending.push(...producer.inputs);
  }
  const [any] = needed;
  return any ? (any.outputs[0] as Value).graph.nodes.filter((node) => needed.has(node)) : [];
}

function filledData(dtype: DType, count: number, x: number): TensorData {
  if (dtype === 'int64') return new BigInt64Array(count).fill(BigInt(x));
  if (x !== 0 && (dtype === 'float16' || dtype === 'bfloat16')) {
    throw new Error(`graph: constants of ${dtype} are made by a cast from float32`);
  }
  return new arrayOf[dtype](count).fill(x);
}
