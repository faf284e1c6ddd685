// One transformer block of a Llama as a pair of graphs, forward and backward, compiled once per shape and run for
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
import type { LlamaConfig } from './config.ts';
import { blockRoles, blockTensorShape } from './llama-tensors.ts';
import type { BlockRole } from './llama-tensors.ts';
import { rotaryTables } from './rotary-tables.ts';

export interface BatchShape {
  readonly batch: number;
  readonly length: number;
}

type BlockWeights = Readonly<Record<BlockRole, Value>>;

export const gradientOf = (role: string): string => `d_${role}`;
export const previousOf = (role: string): string => `previous_${role}`;

/** x [T,D] -> [B, heads, S, hd]: `weight` projects, heads come apart. */
function projectHeads(x: Value, weight: Value, { batch, length }: BatchShape, headSize: number): Value {
  return transpose(reshape(gemm(x, weight, { transB: true }), [batch, length, -1, headSize]), [0, 2, 1, 3]);
}

/** Causal attention of normalised x [T,D], before the output projection: [T, H*hd]. */
function attention(x: Value, weights: BlockWeights, config: LlamaConfig, shape: BatchShape): Value {
  const { batch: B, length: S } = shape;
  const { kvHeads, headSize, ropeTheta } = config;
  const table = (scale: number): [Value, Value] => {
    const { cos, sin } = rotaryTables(S, headSize, ropeTheta, scale);
    return [
      x.graph.constant('float32', [S, headSize / 2], cos),
      x.graph.constant('float32', [S, headSize / 2], sin),
    ];
  };
  // The scale 1/sqrt(hd) of the scores rides on the tables that turn the queries: no pass of its own.
  const q = rotary(projectHeads(x, weights.q, shape, headSize), ...table(1 / Math.sqrt(headSize)));
  const k = rotary(projectHeads(x, weights.k, shape, headSize), ...table(1));
  const v = projectHeads(x, weights.v, shape, headSize);
  // The query heads that share a key head are stacked on rows, so keys and values are never repeated.
  const stacked = reshape(q, [B, kvHeads, -1, headSize]);
  const context = reshape(causalAttention(stacked, k, v), [B, -1, S, headSize]);
  return reshape(transpose(context, [0, 2, 1, 3]), [B * S, -1]);
}

/** x [T,D] -> [T,D]. Residuals ride on the products that end each half. */
function blockForward(x: Value, weights: BlockWeights, config: LlamaConfig, shape: BatchShape): Value {
  const context = attention(rmsNorm(x, weights.attentionNorm, config.rmsNormEps), weights, config, shape);
  const middle = gemm(context, weights.o, { transB: true, c: x });
  const normal = rmsNorm(middle, weights.mlpNorm, config.rmsNormEps);
  const project = (weight: Value): Value => gemm(normal, weight, { transB: true });
  return gemm(siluMul(project(weights.gate), project(weights.up)), weights.down, { transB: true, c: middle });
}

interface BlockInputs {
  readonly graph: Graph;
  readonly x: Value;
  readonly weights: BlockWeights;
}

function blockInputs(config: LlamaConfig, { batch, length }: BatchShape): BlockInputs {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [batch * length, config.hiddenSize]);
  const entries = blockRoles.map(
    (role) => [role, graph.input(role, 'float32', blockTensorShape(config, role))] as const,
  );
  return { graph, x, weights: Object.fromEntries(entries) as Record<BlockRole, Value> };
}

/** Forward only, nothing kept: inputs x and the weights by role, output y. */
export function blockScoringGraph(config: LlamaConfig, shape: BatchShape): Graph {
  const { graph, x, weights } = blockInputs(config, shape);
  graph.output('y', blockForward(x, weights, config, shape));
  return graph;
}

/**
 * Forward (x, weights -> y, kept) and backward (dy, kept, weights -> d_x, d_ROLE).
 * With `accumulating` each d_ROLE is previous_ROLE plus this micro-batch's gradient; both may be one buffer.
 */
export function blockTrainingGraphs(
  config: LlamaConfig,
  shape: BatchShape,
  accumulating: boolean,
): Partition {
  const { graph, x, weights } = blockInputs(config, shape);
  const y = blockForward(x, weights, config, shape);
  const cotangent = graph.input('d_y', 'float32', y.shape);
  const [dx, ...dWeights] = gradients(
    [{ value: y, cotangent }],
    [x, ...blockRoles.map((role) => weights[role])],
  );
  const backwardOutputs: Record<string, Value> = { d_x: dx as Value };
  for (const [index, role] of blockRoles.entries()) {
    const gradient = dWeights[index] as Value;
    backwardOutputs[gradientOf(role)] = accumulating
      ? accumulate(graph.input(previousOf(role), 'float32', gradient.shape), gradient)
      : gradient;
  }
  return partition(graph, { forwardOutputs: { y }, backwardOutputs });
}
