// The block of one long sequence, a chunk of tokens at a time, so that no tensor is as long as the sequence in two
// directions: projections and the part after attention run over row chunks, attention over query chunks.
// Whatever lies between two sessions is [tokens, width]: a chunk of it is one piece of memory.
// S: tokens of the sequence, R: rows of a chunk, C: queries of a chunk, N: keys that a chunk is shown.

import { gradients } from '../graph/grad.ts';
import { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { accumulate } from '../ops/accumulate.ts';
import { chunkAttention, chunkAttentionGradients } from '../ops/causal-attention.ts';
import type { QueryChunk } from '../ops/causal-attention.ts';
import { reshape, transpose } from '../ops/shape.ts';
import type { DecoderConfig } from './config.ts';
import {
  blockEnd,
  blockInputs,
  blockProjections,
  gradientOf,
  previousOf,
  trainedRoles,
} from './decoder-block.ts';
import type { BlockInputRole, BlockInputs } from './decoder-block.ts';
import type { BlockRole } from './decoder-tensors.ts';
import { plainForm } from './model-form.ts';
import type { ModelForm } from './model-form.ts';

/** Inputs of the projections that hold the rotations of a chunk's positions, [R,hd/2] each. */
export const rotationNames = ['cos_query', 'sin_query', 'cos_key', 'sin_key'] as const;

const endRoles: readonly BlockRole[] = ['o', 'gate', 'up', 'down', 'mlpNorm'];

const isOfEnd = (role: BlockInputRole): boolean =>
  endRoles.includes(role.replace(/_lora_[AB]$/, '') as BlockRole);
/** What the backward of the part after attention gives gradients of. */
export const trainedEndRoles = (config: DecoderConfig, form: ModelForm): readonly BlockInputRole[] =>
  trainedRoles(config, form).filter(isOfEnd);
/** The same of the part before attention. */
export const trainedProjectionRoles = (config: DecoderConfig, form: ModelForm): readonly BlockInputRole[] =>
  trainedRoles(config, form).filter((role) => !isOfEnd(role));

interface Projections extends BlockInputs {
  /** q [R,H*hd], k and v [R,KV*hd]. */
  readonly projected: Readonly<Record<'q' | 'k' | 'v', Value>>;
}

function projections(config: DecoderConfig, rows: number, form: ModelForm): Projections {
  const inputs = blockInputs(config, { batch: 1, length: rows }, form);
  const [cosQuery, sinQuery, cosKey, sinKey] = rotationNames.map((name) =>
    inputs.graph.input(name, 'float32', [rows, config.headSize / 2]),
  ) as [Value, Value, Value, Value];
  const { q, k, v } = blockProjections(
    inputs.x,
    inputs.parameters,
    { batch: 1, length: rows },
    { query: [cosQuery, sinQuery], key: [cosKey, sinKey] },
  );
  const byToken = (heads: Value): Value => reshape(transpose(heads, [0, 2, 1, 3]), [rows, -1]);
  return { ...inputs, projected: { q: byToken(q), k: byToken(k), v: byToken(v) } };
}

/** x [R,D], weights, rotations -> queries [R,H*hd], keys and values [R,KV*hd]. */
export function chunkProjectionGraph(
  config: DecoderConfig,
  rows: number,
  form: ModelForm = plainForm,
): Graph {
  const { graph, projected } = projections(config, rows, form);
  graph.output('queries', projected.q);
  graph.output('keys', projected.k);
  graph.output('values', projected.v);
  return graph;
}

/** The same, and d_queries, d_keys, d_values, partial_d_x -> d_x (partial_d_x included), d_ROLE (previous_ROLE included). */
export function chunkProjectionBackwardGraph(
  config: DecoderConfig,
  rows: number,
  form: ModelForm = plainForm,
): Graph {
  const { graph, x, trained, projected } = projections(config, rows, form);
  const cotangent = (name: string, value: Value): Value => graph.input(name, 'float32', value.shape);
  const roles = trainedProjectionRoles(config, form);
  const [dx, ...dWeights] = gradients(
    [
      { value: projected.q, cotangent: cotangent('d_queries', projected.q) },
      { value: projected.k, cotangent: cotangent('d_keys', projected.k) },
      { value: projected.v, cotangent: cotangent('d_values', projected.v) },
    ],
    [x, ...roles.map((role) => trained[role] as Value)],
  );
  graph.output('d_x', accumulate(graph.input('partial_d_x', 'float32', x.shape), dx as Value));
  accumulateInto(graph, roles, dWeights);
  return graph;
}

/** x [R,D], context [R,H*hd], weights -> y [R,D]. */
export function chunkEndGraph(config: DecoderConfig, rows: number, form: ModelForm = plainForm): Graph {
  const { graph, y } = end(config, rows, form);
  graph.output('y', y);
  return graph;
}

/** x, context, weights, d_y -> partial_d_x, d_context, d_ROLE (previous_ROLE included). */
export function chunkEndBackwardGraph(
  config: DecoderConfig,
  rows: number,
  form: ModelForm = plainForm,
): Graph {
  const { graph, x, context, trained, y } = end(config, rows, form);
  const roles = trainedEndRoles(config, form);
  const cotangent = graph.input('d_y', 'float32', y.shape);
  const [dx, dContext, ...dWeights] = gradients(
    [{ value: y, cotangent }],
    [x, context, ...roles.map((role) => trained[role] as Value)],
  );
  graph.output('partial_d_x', dx as Value);
  graph.output('d_context', dContext as Value);
  accumulateInto(graph, roles, dWeights);
  return graph;
}

function end(
  config: DecoderConfig,
  rows: number,
  form: ModelForm,
): BlockInputs & Readonly<Record<'context' | 'y', Value>> {
  const inputs = blockInputs(config, { batch: 1, length: rows }, form);
  const context = inputs.graph.input('context', 'float32', [rows, config.heads * config.headSize]);
  return { ...inputs, context, y: blockEnd(inputs.x, context, inputs.parameters) };
}

function accumulateInto(
  graph: Graph,
  roles: readonly BlockInputRole[],
  gradientsByRole: readonly Value[],
): void {
  for (const [index, role] of roles.entries()) {
    const gradient = gradientsByRole[index] as Value;
    const previous = graph.input(previousOf(role), 'float32', gradient.shape);
    graph.output(gradientOf(role), accumulate(previous, gradient));
  }
}

export interface AttentionChunk {
  readonly queries: number;
  readonly keys: number;
}

/** queries [C,H*hd], keys and values [N,KV*hd], offset [] -> context [C,H*hd]. */
export function chunkAttentionGraph(config: DecoderConfig, shape: AttentionChunk): Graph {
  const graph = new Graph();
  graph.output('context', byQueryToken(chunkAttention(attentionInputs(graph, config, shape)), config, shape));
  return graph;
}

/**
 * The same, context and d_context [C,H*hd], previous_d_keys and previous_d_values [N,KV*hd] -> d_queries [C,H*hd],
 * d_keys and d_values with the previous included; each may be one buffer with its previous.
 */
export function chunkAttentionBackwardGraph(config: DecoderConfig, shape: AttentionChunk): Graph {
  const graph = new Graph();
  const chunk = attentionInputs(graph, config, shape);
  const width = config.heads * config.headSize;
  const stacked = (name: string): Value =>
    byHead(graph.input(name, 'float32', [shape.queries, width]), config, shape);
  const [dq, dk, dv] = chunkAttentionGradients(chunk, stacked('context'), stacked('d_context'));
  graph.output('d_queries', byQueryToken(dq, config, shape));
  for (const [name, gradient] of [
    ['d_keys', dk],
    ['d_values', dv],
  ] as const) {
    const byToken = reshape(transpose(gradient, [0, 2, 1, 3]), [shape.keys, -1]);
    graph.output(name, accumulate(graph.input(`previous_${name}`, 'float32', byToken.shape), byToken));
  }
  return graph;
}

function attentionInputs(graph: Graph, config: DecoderConfig, shape: AttentionChunk): QueryChunk {
  const { heads, kvHeads, headSize } = config;
  const { queries, keys } = shape;
  const ofKeys = (name: string): Value => graph.input(name, 'float32', [keys, kvHeads * headSize]);
  return queryChunk(
    {
      queries: graph.input('queries', 'float32', [queries, heads * headSize]),
      keys: ofKeys('keys'),
      values: ofKeys('values'),
      offset: graph.input('offset', 'int32', []),
    },
    config,
    shape,
  );
}

/** By token, [C,H*hd] and [N,KV*hd], to what attention works on. */
export function queryChunk(
  given: Readonly<Record<'queries' | 'keys' | 'values' | 'offset', Value>>,
  config: DecoderConfig,
  shape: AttentionChunk,
): QueryChunk {
  const ofKeys = (x: Value): Value =>
    transpose(reshape(x, [1, shape.keys, config.kvHeads, config.headSize]), [0, 2, 1, 3]);
  return {
    q: byHead(given.queries, config, shape),
    k: ofKeys(given.keys),
    v: ofKeys(given.values),
    offset: given.offset,
    queries: shape.queries,
  };
}

/** [C,H*hd] -> [1,KV,G*C,hd]: the query heads of a key head are stacked on rows. */
export function byHead(x: Value, { kvHeads, headSize }: DecoderConfig, { queries }: AttentionChunk): Value {
  const heads = transpose(reshape(x, [1, queries, -1, headSize]), [0, 2, 1, 3]);
  return reshape(heads, [1, kvHeads, -1, headSize]);
}

/** The way back. */
export function byQueryToken(
  x: Value,
  { heads, headSize }: DecoderConfig,
  { queries }: AttentionChunk,
): Value {
  return reshape(transpose(reshape(x, [1, heads, queries, headSize]), [0, 2, 1, 3]), [queries, -1]);
}
