// What a test of an op needs: inputs at a small size (finite differences) and a large one (parallel kernels), and
// the forward expression. The checks in expect-grad.ts and the repeatability test run on these.
import { Graph } from '../../../runner/engine/graph/graph.ts';
import type { Value } from '../../../runner/engine/graph/graph.ts';
import { gradients } from '../../../runner/engine/graph/grad.ts';
import { elementCount } from '../../../runner/engine/graph/shape.ts';
import type { Shape } from '../../../runner/engine/graph/shape.ts';
import type { DType, TensorData } from '../../../runner/engine/ort/runtime.ts';

export type Size = 'small' | 'large';
export type FloatDType = 'float32' | 'float64';

export interface InputSpec {
  readonly shape: Shape;
  /** 'float' is differentiated; 'frozen' is a float that no gradient flows to. */
  readonly kind: 'float' | 'frozen' | 'int32';
  /** Element i, given a uniform draw in [0, 1). */
  readonly element: (uniform: number, index: number) => number;
}

export type Values = Readonly<Record<string, Value>>;

export function get(values: Values, name: string): Value {
  const value = values[name];
  if (!value) throw new Error(`the case has no input ${name}`);
  return value;
}

export interface OpCase {
  readonly name: string;
  readonly inputs: (size: Size) => Readonly<Record<string, InputSpec>>;
  readonly build: (values: Values) => Value | readonly Value[];
  /** Largest relative difference allowed between float32 and float64 (default 2e-5). */
  readonly tolerance?: number;
}

/** Values in [-1.5, 1.5], all different, none near zero. */
export const around = (shape: Shape): InputSpec => ({
  shape,
  kind: 'float',
  element: (uniform) => (uniform < 0.5 ? -1.5 + uniform * 2.4 : 0.3 + (uniform - 0.5) * 2.4),
});

export const positive = (shape: Shape): InputSpec => ({
  shape,
  kind: 'float',
  element: (uniform) => 0.4 + 1.6 * uniform,
});

export const frozen = (spec: InputSpec): InputSpec => ({ ...spec, kind: 'frozen' });

/** Indices below n, with repeats. */
export const indices = (shape: Shape, n: number): InputSpec => ({
  shape,
  kind: 'int32',
  element: (uniform) => Math.floor(uniform * n),
});

export interface BuiltCase {
  readonly graph: Graph;
  /** Names of the differentiated inputs; output d_NAME holds each one's gradient. */
  readonly differentiated: readonly string[];
  /** Names y_0, … of the forward outputs; input c_0, … is the cotangent of each that is float and differentiable. */
  readonly outputs: readonly string[];
  readonly feeds: Readonly<Record<string, TensorData>>;
}

/** Forward and backward in one graph, with fixed pseudo-random inputs that are exact in float32. */
export function buildCase(opCase: OpCase, size: Size, dtype: FloatDType): BuiltCase {
  const specs = Object.entries(opCase.inputs(size));
  const graph = new Graph();
  const typeOf = (spec: InputSpec): DType => (spec.kind === 'int32' ? 'int32' : dtype);
  const values = Object.fromEntries(
    specs.map(([name, spec]) => [name, graph.input(name, typeOf(spec), spec.shape)]),
  );
  const feeds: Record<string, TensorData> = {};
  for (const [name, spec] of specs) feeds[name] = draw(spec, `${opCase.name}/${name}`);
  const built = opCase.build(values);
  const results = 'graph' in built ? [built as Value] : (built as readonly Value[]);
  results.forEach((result, index) => graph.output(`y_${index}`, result));
  const differentiated = specs.flatMap(([name, spec]) => (spec.kind === 'float' ? [name] : []));
  if (differentiated.length > 0) addBackward(graph, results, differentiated, feeds);
  return { graph, differentiated, outputs: results.map((_, index) => `y_${index}`), feeds };
}

function addBackward(
  graph: Graph,
  results: readonly Value[],
  differentiated: readonly string[],
  feeds: Record<string, TensorData>,
): void {
  const seeds = results.flatMap((value, index) => {
    if (value.dtype !== 'float32' && value.dtype !== 'float64') return [];
    feeds[`c_${index}`] = draw(around(value.shape), `cotangent ${index}`);
    return [{ value, cotangent: graph.input(`c_${index}`, value.dtype, value.shape) }];
  });
  const wrt = differentiated.map((name) => graph.inputs.get(name) as Value);
  for (const [index, gradient] of gradients(seeds, wrt).entries()) {
    graph.output(`d_${differentiated[index]}`, gradient);
  }
}

function draw(spec: InputSpec, seed: string): TensorData {
  const next = uniformStream(seed);
  const count = elementCount(spec.shape);
  const data = spec.kind === 'int32' ? new Int32Array(count) : new Float64Array(count);
  for (let i = 0; i < count; i++) data[i] = Math.fround(spec.element(next(), i));
  return data;
}

/** mulberry32 seeded by a hash of the text. */
function uniformStream(seed: string): () => number {
  let state = [...seed].reduce((hash, c) => Math.imul(hash ^ c.charCodeAt(0), 16777619), 2166136261);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
