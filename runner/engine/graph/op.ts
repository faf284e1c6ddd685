// What an op is: one object with its shape rule, its ONNX emission and its gradient rule, kept together in ops/.
// Everything defined is registered, so that a test can demand a finite-difference case for each.
import type { Attributes } from '../onnx/attributes.ts';
import type { Value, ValueType } from './graph.ts';

export interface Node<A = unknown> {
  readonly op: Op<A>;
  readonly inputs: readonly Value[];
  readonly attributes: A;
  readonly outputs: readonly Value[];
}

/** Where an op writes its ONNX nodes. Names are tensor names in the model. */
export interface Emitter {
  /** Adds one ONNX node and returns the name of its first output; fresh names unless `outputs` names them. */
  node(opType: string, inputs: readonly string[], extra?: NodeExtra): string;
  /** An initializer holding one number, of the given value's dtype. */
  scalar(x: number, like: ValueType): string;
  /** A rank-1 int64 initializer: shapes, axes, split sizes. */
  int64s(values: readonly number[]): string;
  /** A rank-0 int32 initializer. */
  int32(value: number): string;
  /** 0, 1, 2, … as int32, in the given shape. */
  iota(shape: readonly number[]): string;
}

export interface NodeExtra {
  readonly attributes?: Attributes;
  readonly domain?: 'com.microsoft';
  readonly outputs?: readonly string[];
}

export interface Emission<A> extends Node<A> {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

export type Cotangents = readonly (Value | undefined)[];

/**
 * How cotangents of the outputs (undefined where nothing flows back) become cotangents of the inputs (undefined:
 * none). `flat`: the derivative is zero wherever it exists. `missing`: no rule; the reverse walk refuses by name.
 */
export type Gradient<A> =
  | { rule(node: Node<A>, cotangents: Cotangents): Cotangents }
  | { readonly flat: string }
  | { readonly missing: string };

export interface Op<A = unknown> {
  readonly name: string;
  infer(inputs: readonly Value[], attributes: A): readonly ValueType[];
  emit(emitter: Emitter, emission: Emission<A>): void;
  readonly gradient: Gradient<A>;
  /** Set where recomputing costs (almost) nothing: the backward part then keeps the op's input, not its output. */
  readonly cheap?: boolean;
}

/** The gradient of an op with one output. */
export function vjp<A>(rule: (cotangent: Value, node: Node<A>) => Cotangents): Gradient<A> {
  return {
    rule(node, [cotangent]) {
      if (!cotangent) throw new Error(`internal: ${node.op.name} was walked without a cotangent`);
      return rule(cotangent, node);
    },
  };
}

/** For ops that serve as the gradient of another: first-order training never differentiates them. */
export const firstOrderOnly = {
  missing: 'it is itself a gradient; second derivatives are not supported',
} as const;

const registry = new Map<string, Op>();

export function defineOp<A>(op: Op<A>): Op<A> {
  if (registry.has(op.name)) throw new Error(`internal: op '${op.name}' is defined twice`);
  registry.set(op.name, op as Op);
  return op;
}

/** Every op of the modules imported so far. */
export function definedOps(): readonly Op[] {
  return [...registry.values()];
}
