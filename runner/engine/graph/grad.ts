// Reverse mode: one walk over the nodes, backwards, that only accumulates. Every derivative lives with its op.
// The result is more nodes in the same graph; partition.ts separates them from the forward part.
import { accumulate } from '../ops/accumulate.ts';
import { describeType, isFloat } from './expect.ts';
import type { Graph, Value } from './graph.ts';
import type { Cotangents, Node } from './op.ts';
import { sameShape } from './shape.ts';

export interface Seed {
  readonly value: Value;
  /** d loss / d value, of the value's own shape. */
  readonly cotangent: Value;
}

/**
 * d (sum over seeds of <value, cotangent>) / d wrt, one per wrt and of its shape. Throws when an op on the way has
 * no gradient rule, and when a wrt influences no seed (its gradient would be a silent zero).
 */
export function gradients(seeds: readonly Seed[], wrt: readonly Value[]): Value[] {
  const [first] = wrt;
  if (!first) return [];
  const cotangents = new Map<Value, Value>();
  for (const { value, cotangent } of seeds) {
    if (!sameShape(value.shape, cotangent.shape) || value.dtype !== cotangent.dtype) {
      throw new Error(
        `gradients: ${describeType(value)} cannot have the cotangent ${describeType(cotangent)}`,
      );
    }
    contribute(cotangents, value, cotangent);
  }
  walk(first.graph, new Set(wrt), cotangents);
  return wrt.map((value, index) => {
    const gradient = cotangents.get(value);
    if (gradient) return gradient;
    const name = value.name ?? value.producer?.op.name ?? 'constant';
    throw new Error(`gradients: wrt ${index} (${name} ${describeType(value)}) influences no seed`);
  });
}

function walk(graph: Graph, wrt: ReadonlySet<Value>, cotangents: Map<Value, Value>): void {
  const nodes = [...graph.nodes];
  const active = dependents(nodes, wrt);
  for (const node of nodes.reverse()) {
    const flowing = node.outputs.map((output) => cotangents.get(output));
    if (!node.outputs.some((output, index) => flowing[index] && active.has(output))) continue;
    const inputCotangents = pullBack(node, flowing);
    for (const [index, input] of node.inputs.entries()) {
      const contribution = inputCotangents[index];
      if (contribution && active.has(input)) contribute(cotangents, input, contribution);
    }
  }
}

/** Values that a wrt influences, the wrt included: only through them does a gradient have to flow. */
function dependents(nodes: readonly Node[], wrt: ReadonlySet<Value>): Set<Value> {
  const active = new Set(wrt);
  for (const node of nodes) {
    if (node.inputs.some((input) => active.has(input))) {
      for (const output of node.outputs) if (isFloat(output.dtype)) active.add(output);
    }
  }
  return active;
}

function pullBack(node: Node, flowing: Cotangents): Cotangents {
  const { gradient, name } = node.op;
  if ('flat' in gradient) return [];
  if ('missing' in gradient) throw new Error(`gradients: op '${name}' has no gradient: ${gradient.missing}`);
  return gradient.rule(node, flowing);
}

function contribute(cotangents: Map<Value, Value>, value: Value, contribution: Value): void {
  if (!sameShape(value.shape, contribution.shape)) {
    const op = value.producer?.op.name ?? value.name ?? 'constant';
    throw new Error(
      `internal: ${op} ${describeType(value)} was given a gradient ${describeType(contribution)}`,
    );
  }
  const sum = cotangents.get(value);
  cotangents.set(value, sum ? accumulate(sum, contribution) : contribution);
}
