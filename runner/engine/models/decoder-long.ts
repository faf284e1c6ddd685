// Attention of one long sequence where a tensor has no views: sessions are given queries, keys and values as a whole and
// pick the chunk themselves. Otherwise the graphs of decoder-chunks.ts.
// S: tokens of the sequence, C: queries of a chunk, N: keys that a chunk is shown.

import { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { add } from '../ops/arithmetic.ts';
import { chunkAttention, chunkAttentionGradients } from '../ops/causal-attention.ts';
import { gatherRows } from '../ops/gather.ts';
import { reshape, transpose } from '../ops/shape.ts';
import { concat, pad, slice } from '../ops/slice.ts';
import type { DecoderConfig } from './config.ts';
import { byHead, byQueryToken, queryChunk } from './decoder-chunks.ts';
import type { AttentionChunk } from './decoder-chunks.ts';

export interface PickedChunk extends AttentionChunk {
  /** S. */
  readonly length: number;
}

interface Sequence {
  readonly graph: Graph;
  readonly offset: Value;
  /** Rows offset to offset + C of an input [S,width]. */
  readonly picked: (name: string, width: number) => Value;
  /** The first N rows of an input [S,width]. */
  readonly shown: (name: string, width: number) => Value;
}

function sequence({ queries, keys, length }: PickedChunk): Sequence {
  const graph = new Graph();
  const offset = graph.input('offset', 'int32', []);
  const iota = Int32Array.from({ length: queries }, (_, i) => i);
  const rows = add(graph.constant('int32', [queries], iota), offset);
  const input = (name: string, width: number): Value => graph.input(name, 'float32', [length, width]);
  return {
    graph,
    offset,
    picked: (name, width) => gatherRows(input(name, width), rows),
    shown: (name, width) => {
      const whole = input(name, width);
      return keys === length ? whole : slice(whole, 0, 0, keys);
    },
  };
}

/** queries [S,H*hd], keys and values [S,KV*hd], offset [] -> context [C,H*hd]. */
export function pickedAttentionGraph(config: DecoderConfig, shape: PickedChunk): Graph {
  const { graph, chunk } = pickedAttention(config, shape);
  graph.output('context', byQueryToken(chunkAttention(chunk), config, shape));
  return graph;
}

/**
 * The same, context and d_context [S,H*hd], previous_d_keys and previous_d_values [S,KV*hd] -> d_queries [C,H*hd],
 * d_keys and d_values [S,KV*hd] with the previous included.
 */
export function pickedAttentionBackwardGraph(config: DecoderConfig, shape: PickedChunk): Graph {
  const { graph, chunk, stacked, keyWidth } = pickedAttention(config, shape);
  const [dq, dk, dv] = chunkAttentionGradients(chunk, stacked('context'), stacked('d_context'));
  graph.output('d_queries', byQueryToken(dq, config, shape));
  for (const [name, gradient] of [
    ['d_keys', dk],
    ['d_values', dv],
  ] as const) {
    const byToken = reshape(transpose(gradient, [0, 2, 1, 3]), [shape.keys, -1]);
    const whole = pad(byToken, 0, 0, shape.length - shape.keys);
    graph.output(name, add(graph.input(`previous_${name}`, 'float32', [shape.length, keyWidth]), whole));
  }
  return graph;
}

function pickedAttention(config: DecoderConfig, shape: PickedChunk) {
  const { heads, kvHeads, headSize } = config;
  const [width, keyWidth] = [heads * headSize, kvHeads * headSize];
  const { graph, offset, picked, shown } = sequence(shape);
  const [queries, keys, values] = [
    picked('queries', width),
    shown('keys', keyWidth),
    shown('values', keyWidth),
  ];
  const chunk = queryChunk({ queries, keys, values, offset }, config, shape);
  const stacked = (name: string): Value => byHead(picked(name, width), config, shape);
  return { graph, chunk, stacked, keyWidth };
}

/** chunk_0, chunk_1, … [C,width] -> whole [S,width]. */
export function joinChunksGraph(chunks: number, rows: number, width: number): Graph {
  const graph = new Graph();
  const parts = Array.from({ length: chunks }, (_, i) => graph.input(`chunk_${i}`, 'float32', [rows, width]));
  graph.output('whole', concat(parts, 0));
  return graph;
}
