// Splits one joint forward-and-backward graph into two graphs that are compiled apart: this is how a transformer
// block becomes a block-forward and a block-backward session. The forward hands over the intermediates that the
// backward needs; cheap ops (views, broadcasts) are repeated in the backward instead, from their inputs.
import { ancestors, Graph } from './graph.ts';
import type { Value } from './graph.ts';
import type { Node } from './op.ts';

export interface PartitionOutputs {
  readonly forwardOutputs: Readonly<Record<string, Value>>;
  readonly backwardOutputs: Readonly<Record<string, Value>>;
}

export interface Kept {
  /** Output of the forward graph and input of the backward graph. */
  readonly name: string;
  /** The value in the joint graph: its dtype and shape. */
  readonly value: Value;
}

export interface Partition {
  readonly forward: Graph;
  readonly backward: Graph;
  readonly kept: readonly Kept[];
}

/** Each side has only the joint graph's inputs that it uses, under their names. Kept values are named kept_0, … */
export function partition(joint: Graph, { forwardOutputs, backwardOutputs }: PartitionOutputs): Partition {
  const forwardNodes = new Set(ancestors(Object.values(forwardOutputs)));
  const isKept = (value: Value) =>
    value.producer !== undefined && forwardNodes.has(value.producer) && !value.producer.op.cheap;
  const keptValues = boundary(Object.values(backwardOutputs), isKept);
  const kept = keptValues.map((value, index) => ({ name: `kept_${index}`, value }));

  const forward = new GraphCopy(joint);
  forward.addNodes([...forwardNodes].sort(byCreation(joint)));
  for (const [name, value] of Object.entries(forwardOutputs)) forward.output(name, value);
  for (const { name, value } of kept) forward.output(name, value);

  const backward = new GraphCopy(joint);
  for (const { name, value } of kept) backward.inputFor(value, name);
  backward.addNodes(ancestors(Object.values(backwardOutputs), isKept));
  for (const [name, value] of Object.entries(backwardOutputs)) backward.output(name, value);
  return { forward: forward.graph, backward: backward.graph, kept };
}

/** The values at which a walk back from `outputs` meets `isKept`, in creation order. */
function boundary(outputs: readonly Value[], isKept: (value: Value) => boolean): Value[] {
  const found = new Set<Value>(outputs.filter(isKept));
  for (const node of ancestors(outputs, isKept)) {
    for (const input of node.inputs) if (isKept(input)) found.add(input);
  }
  return [...found].sort((a, b) => a.id - b.id);
}

const byCreation = (graph: Graph) => {
  const order = new Map(graph.nodes.map((node, index) => [node, index]));
  return (a: Node, b: Node) => (order.get(a) ?? 0) - (order.get(b) ?? 0);
};

class GraphCopy {
  readonly graph = new Graph();
  readonly #joint: Graph;
  readonly #copies = new Map<Value, Value>();

  constructor(joint: Graph) {
    this.#joint = joint;
  }

  inputFor(value: Value, name: string): void {
    this.#copies.set(value, this.graph.input(name, value.dtype, value.shape));
  }

  addNodes(nodes: readonly Node[]): void {
    for (const node of nodes) {
      const inputs = node.inputs.map((input) => this.#copyOf(input));
      const outputs = this.graph.append(node.op, inputs, node.attributes);
      // A kept output of this node may be an input already; it stays one.
      for (const [index, output] of node.outputs.entries()) {
        if (!this.#copies.has(output)) this.#copies.set(output, outputs[index] as Value);
      }
    }
  }

  output(name: string, value: Value): void {
    this.graph.output(name, this.#copyOf(value));
  }

  #copyOf(value: Value): Value {
    const known = this.#copies.get(value);
    if (known) return known;
    const copy = this.#copyLeaf(value);
    this.#copies.set(value, copy);
    return copy;
  }

  #copyLeaf(value: Value): Value {
    if (value.name !== undefined) return this.graph.input(value.name, value.dtype, value.shape);
    if (!value.data)
      throw new Error(
        `internal: partition met ${value.id} of ${this.#joint.nodes.length} nodes before its producer`,
      );
    return value.shape.length === 0 && value.dtype !== 'bool'
      ? this.graph.scalar(Number(value.data[0]), value.dtype)
      : this.graph.constant(value.dtype, value.shape, value.data);
  }
}
