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
import { gemm } from '../ops/matmul.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { rotary } from '../ops/rotary.ts';
import { reshape, transpose } from '../ops/shape.ts';
import { siluMul } from '../ops/silu.ts';
import type { DecoderConfig } from './config.ts';
import { blockRoles, blockTensorShape } from './decoder-tensors.ts';
import type { BlockRole, CommonRole, FamilyRole } from './decoder-tensors.ts';
import { rotaryTables } from './rotary-tables.ts';

export interface BatchShape {
  readonly batch: number;
  readonly length: number;
}

/** What only some families have is absent in the others. */
export type BlockWeights = Readonly<Record<CommonRole, Value> & Partial<Record<FamilyRole, Value>>>;

export const gradientOf = (role: string): string => `d_${role}`;
export const previousOf = (role: string): string => `previous_${role}`;

/** x [T,D] -> [B, heads, S, hd]: `weight` projects, heads come apart, and each is normalised where there is a norm. */
function projectHeads(
  x: Value,
  weight: Value,
  bias: Value | undefined,
  norm: Value | undefined,
  { batch, length }: BatchShape,
  { headSize, rmsNormEps }: DecoderConfig,
): Value {
  const projected = gemm(x, weight, { transB: true, ...(bias && { c: bias }) });
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
  weights: BlockWeights,
  config: DecoderConfig,
  shape: BatchShape,
  { query, key }: Rotations,
): Projected {
  const normal = rmsNorm(x, weights.attentionNorm, config.rmsNormEps);
  const { qBias, kBias, vBias, qNorm, kNorm } = weights;
  return {
    q: rotary(projectHeads(normal, weights.q, qBias, qNorm, shape, config), ...query),
    k: rotary(projectHeads(normal, weights.k, kBias, kNorm, shape, config), ...key),
    v: projectHeads(normal, weights.v, vBias, undefined, shape, config),
  };
}

/** The block's part after attention: x [T,D], context [T,H*hd] -> [T,D], row by row. Residuals ride on the products that end each half. */
export function blockEnd(
  x: Value,
  context: Value,
  weights: BlockWeights,
  { rmsNormEps }: DecoderConfig,
): Value {
  const middle = gemm(context, weights.o, { transB: true, c: x });
  const normal = rmsNorm(middle, weights.mlpNorm, rmsNormEps);
  const project = (weight: Value): Value => gemm(normal, weight, { transB: true });
  return gemm(siluMul(project(weights.gate), project(weights.up)), weights.down, { transB: true, c: middle });
}

/** x [T,D] -> [T,D]. */
function blockForward(x: Value, weights: BlockWeights, config: DecoderConfig, shape: BatchShape): Value {
  const { batch: B, length: S } = shape;
  const { kvHeads, headSize } = config;
  const { q, k, v } = blockProjections(x, weights, config, shape, rotations(x.graph, config, S));
  // The query heads that share a key head are stacked on rows, so keys and values are never repeated.
  const stacked = reshape(q, [B, kvHeads, -1, headSize]);
  const context = reshape(causalAttention(stacked, k, v), [B, -1, S, headSize]);
  return blockEnd(x, reshape(transpose(context, [0, 2, 1, 3]), [B * S, -1]), weights, config);
}

export interface BlockInputs {
  readonly graph: Graph;
  readonly x: Value;
  readonly weights: BlockWeights;
}

/** A graph with x [T,D] and the block's weights by role. */
export function blockInputs(config: DecoderConfig, { batch, length }: BatchShape): BlockInputs {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [batch * length, config.hiddenSize]);
  const entries = blockRoles(config).map(
    (role) => [role, graph.input(role, 'float32', blockTensorShape(config, role))] as const,
  );
  return { graph, x, weights: Object.fromEntries(entries) as Record<BlockRole, Value> };
}

/** Forward only, nothing kept: inputs x and the weights by role, output y. */
export function blockScoringGraph(config: DecoderConfig, shape: BatchShape): Graph {
  const { graph, x, weights } = blockInputs(config, shape);
  graph.output('y', blockForward(x, weights, config, shape));
  return graph;
}

/**
 * Forward (x, weights -> y, kept) and backward (dy, kept, weights -> d_x, d_ROLE).
 * With `accumulating` each d_ROLE is previous_ROLE plus this micro-batch's gradient; both may be one buffer.
 */
export function blockTrainingGraphs(
  config: DecoderConfig,
  shape: BatchShape,
  accumulating: boolean,
): Partition {
  const { graph, y, gradients } = blockBackward(config, shape, accumulating);
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
): Graph {
  const { graph, gradients } = blockBackward(config, shape, accumulating);
  for (const [name, value] of Object.entries(gradients)) graph.output(name, value);
  return graph;
}

interface BlockBackward {
  readonly graph: Graph;
  readonly y: Value;
  readonly gradients: Readonly<Record<string, Value>>;
}

function blockBackward(config: DecoderConfig, shape: BatchShape, accumulating: boolean): BlockBackward {
  const { graph, x, weights } = blockInputs(config, shape);
  const y = blockForward(x, weights, config, shape);
  const cotangent = graph.input('d_y', 'float32', y.shape);
  const roles = blockRoles(config);
  const [dx, ...dWeights] = gradients(
    [{ value: y, cotangent }],
    [x, ...roles.map((role) => weights[role] as Value)],
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
