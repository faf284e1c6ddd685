// One transformer block of a decoder as a pair of graphs, forward and backward, compiled once per shape and run for
// every layer with that layer's weights bound. B sequences of S tokens are T = B * S rows. Sequences are padded on
// the right and attention is causal, so no row before the padding sees it: the mask needs no lengths.

import { gradients } from '../graph/grad.ts';
import { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { partition } from '../graph/partition.ts';
import type { Partition } from '../graph/partition.ts';
import { accumulate } from '../ops/accumulate.ts';
import { causalAttention } from '../ops/causal-attention.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { rotary } from '../ops/rotary.ts';
import { reshape, transpose } from '../ops/shape.ts';
import { siluMul } from '../ops/silu.ts';
import type { DecoderConfig } from './config.ts';
import { blockRoles, blockTensorShape } from './decoder-tensors.ts';
import type { BlockRole, CommonRole, FamilyRole, LinearRole } from './decoder-tensors.ts';
import { linear } from './linear.ts';
import type { Adapter } from './linear.ts';
import { adapterRole, adapterRoles, adapterScale, adapterShape } from './lora.ts';
import type { AdapterRole } from './lora.ts';
import { plainForm } from './model-form.ts';
import type { ModelForm } from './model-form.ts';
import { rotaryTables } from './rotary-tables.ts';

export interface BatchShape {
  readonly batch: number;
  readonly length: number;
}

/** What only some families have is absent in the others. */
export type BlockWeights = Readonly<Record<CommonRole, Value> & Partial<Record<FamilyRole, Value>>>;

/** What a block computes with, beside its input. */
export interface BlockParameters {
  readonly config: DecoderConfig;
  readonly form: ModelForm;
  readonly weights: BlockWeights;
  readonly adapters: Readonly<Partial<Record<LinearRole, Adapter>>>;
}

/** What a block is given: its tensors, then with LoRA the adapters'. */
export const blockInputRoles = (config: DecoderConfig, { lora }: ModelForm): readonly BlockInputRole[] => [
  ...blockRoles(config),
  ...(lora ? adapterRoles(lora) : []),
];
export type BlockInputRole = BlockRole | AdapterRole;

/** What a block's backward gives gradients of: with LoRA those of the adapters alone. */
export const trainedRoles = (config: DecoderConfig, { lora }: ModelForm): readonly BlockInputRole[] =>
  lora ? adapterRoles(lora) : blockRoles(config);

export const gradientOf = (role: string): string => `d_${role}`;
export const previousOf = (role: string): string => `previous_${role}`;

/** x [T,in] -> [T,out] through the block's layer `role`. */
function project(
  x: Value,
  role: LinearRole,
  { weights, adapters, form }: BlockParameters,
  addend?: Value,
): Value {
  return linear(x, weights[role], { addend, adapter: adapters[role], operands: form.operands });
}

/** x [T,D] -> [B, heads, S, hd]: projected, heads come apart, and each is normalised where there is a norm. */
function projectHeads(
  x: Value,
  role: 'q' | 'k' | 'v',
  norm: Value | undefined,
  { batch, length }: BatchShape,
  parameters: BlockParameters,
): Value {
  const { headSize, rmsNormEps } = parameters.config;
  const projected = project(x, role, parameters, parameters.weights[`${role}Bias`]);
  const heads = reshape(projected, [batch, length, -1, headSize]);
  return transpose(norm ? rmsNorm(heads, norm, rmsNormEps) : heads, [0, 2, 1, 3]);
}

/** Cosines and sines for queries and keys, [S,hd/2] each. Those of queries carry the scores' scale 1/sqrt(hd): no pass of its own. */
export interface Rotations {
  readonly query: readonly [Value, Value];
  readonly key: readonly [Value, Value];
}

function rotations(graph: Graph, config: DecoderConfig, length: number): Rotations {
  const { headSize } = config;
  const tables = (scale: number): [Value, Value] => {
    const { cos, sin } = rotaryTables(config, length, scale);
    const table = (data: Float32Array): Value => graph.constant('float32', [length, headSize / 2], data);
    return [table(cos), table(sin)];
  };
  return { query: tables(1 / Math.sqrt(headSize)), key: tables(1) };
}

export interface Projected {
  /** [B,H,S,hd], scaled. */
  readonly q: Value;
  /** [B,KV,S,hd]. */
  readonly k: Value;
  readonly v: Value;
}

/** What attention looks at, of x [T,D] before its norm. Each row depends on its own row of x alone. */
export function blockProjections(
  x: Value,
  parameters: BlockParameters,
  shape: BatchShape,
  { query, key }: Rotations,
): Projected {
  const { attentionNorm, qNorm, kNorm } = parameters.weights;
  const normal = rmsNorm(x, attentionNorm, parameters.config.rmsNormEps);
  return {
    q: rotary(projectHeads(normal, 'q', qNorm, shape, parameters), ...query),
    k: rotary(projectHeads(normal, 'k', kNorm, shape, parameters), ...key),
    v: projectHeads(normal, 'v', undefined, shape, parameters),
  };
}

/** The block's part after attention: x [T,D], context [T,H*hd] -> [T,D], row by row. Residuals ride on the products that end each half. */
export function blockEnd(x: Value, context: Value, parameters: BlockParameters): Value {
  const middle = project(context, 'o', parameters, x);
  const normal = rmsNorm(middle, parameters.weights.mlpNorm, parameters.config.rmsNormEps);
  const gated = siluMul(project(normal, 'gate', parameters), project(normal, 'up', parameters));
  return project(gated, 'down', parameters, middle);
}

/** x [T,D] -> [T,D]. */
function blockForward(x: Value, parameters: BlockParameters, shape: BatchShape): Value {
  const { batch: B, length: S } = shape;
  const { kvHeads, headSize } = parameters.config;
  const { q, k, v } = blockProjections(x, parameters, shape, rotations(x.graph, parameters.config, S));
  // The query heads that share a key head are stacked on rows, so keys and values are never repeated.
  const stacked = reshape(q, [B, kvHeads, -1, headSize]);
  const context = reshape(causalAttention(stacked, k, v), [B, -1, S, headSize]);
  return blockEnd(x, reshape(transpose(context, [0, 2, 1, 3]), [B * S, -1]), parameters);
}

export interface BlockInputs {
  readonly graph: Graph;
  readonly x: Value;
  readonly parameters: BlockParameters;
  /** By role: what the form trains. */
  readonly trained: Readonly<Partial<Record<BlockInputRole, Value>>>;
}

/** A graph with x [T,D] and what the block is given, by role. */
export function blockInputs(
  config: DecoderConfig,
  { batch, length }: BatchShape,
  form: ModelForm,
): BlockInputs {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [batch * length, config.hiddenSize]);
  const entries = blockRoles(config).map(
    (role) => [role, graph.input(role, 'float32', blockTensorShape(config, role))] as const,
  );
  const weights = Object.fromEntries(entries) as Record<BlockRole, Value>;
  const { adapters, tensors } = blockAdapters(graph, config, form);
  return {
    graph,
    x,
    parameters: { config, form, weights, adapters },
    trained: form.lora ? tensors : weights,
  };
}

function blockAdapters(graph: Graph, config: DecoderConfig, { lora }: ModelForm) {
  const tensors: Partial<Record<AdapterRole, Value>> = {};
  const adapters: Partial<Record<LinearRole, Adapter>> = {};
  if (lora === undefined) return { adapters, tensors };
  for (const role of adapterRoles(lora))
    tensors[role] = graph.input(role, 'float32', adapterShape(config, lora, role));
  for (const target of lora.targets) {
    const [a, b] = [tensors[adapterRole(target, 'A')]!, tensors[adapterRole(target, 'B')]!];
    adapters[target] = { a, b, scale: adapterScale(lora) };
  }
  return { adapters, tensors };
}

/** Forward only, nothing kept: inputs x and the block's tensors by role, output y. */
export function blockScoringGraph(
  config: DecoderConfig,
  shape: BatchShape,
  form: ModelForm = plainForm,
): Graph {
  const { graph, x, parameters } = blockInputs(config, shape, form);
  graph.output('y', blockForward(x, parameters, shape));
  return graph;
}

/**
 * Forward (x, weights -> y, kept) and backward (dy, kept, weights -> d_x, d_ROLE of each trained role).
 * With `accumulating` each d_ROLE is previous_ROLE plus this micro-batch's gradient; both may be one buffer.
 */
export function blockTrainingGraphs(
  config: DecoderConfig,
  shape: BatchShape,
  accumulating: boolean,
  form: ModelForm = plainForm,
): Partition {
  const { graph, y, gradients } = blockBackward(config, shape, accumulating, form);
  return partition(graph, { forwardOutputs: { y }, backwardOutputs: gradients });
}

/**
 * The backward that recomputes: x, weights, d_y -> d_x, d_ROLE. One joint graph in which every forward value occurs
 * once, so there is nothing that common-subexpression elimination could merge.
 */
export function blockRecomputingGraph(
  config: DecoderConfig,
  shape: BatchShape,
  accumulating: boolean,
  form: ModelForm = plainForm,
): Graph {
  const { graph, gradients } = blockBackward(config, shape, accumulating, form);
  for (const [name, value] of Object.entries(gradients)) graph.output(name, value);
  return graph;
}

interface BlockBackward {
  readonly graph: Graph;
  readonly y: Value;
  readonly gradients: Readonly<Record<string, Value>>;
}

function blockBackward(
  config: DecoderConfig,
  shape: BatchShape,
  accumulating: boolean,
  form: ModelForm,
): BlockBackward {
  const { graph, x, parameters, trained } = blockInputs(config, shape, form);
  const y = blockForward(x, parameters, shape);
  const cotangent = graph.input('d_y', 'float32', y.shape);
  const roles = trainedRoles(config, form);
  const [dx, ...dWeights] = gradients(
    [{ value: y, cotangent }],
    [x, ...roles.map((role) => trained[role] as Value)],
  );
  const outputs: Record<string, Value> = { d_x: dx as Value };
  for (const [index, role] of roles.entries()) {
    const gradient = dWeights[index] as Value;
    outputs[gradientOf(role)] = accumulating
      ? accumulate(graph.input(previousOf(role), 'float32', gradient.shape), gradient)
      : gradient;
  }
  return { graph, y, gradients: outputs };
}
