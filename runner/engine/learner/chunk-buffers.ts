// The buffers of one micro-batch of long sequences: hidden states and cotangents of all of them, and what attention
// of a single sequence reads and writes, which all sequences and layers share. All lie in the learner's scratch memory.

import type { Tensor } from '../ort/runtime.ts';
import type { Dims } from './scratch.ts';

export interface ChunkBufferShape {
  readonly layers: number;
  /** Of the micro-batch, B * S. */
  readonly tokens: number;
  /** S. */
  readonly length: number;
  /** D, H*hd and KV*hd. */
  readonly width: number;
  readonly queryWidth: number;
  readonly keyWidth: number;
  /** Queries of an attention chunk where what is made of a chunk is a tensor of its own; else undefined. */
  readonly apart: number | undefined;
}

export type SequenceBuffer =
  'queries' | 'context' | 'd_queries' | 'd_context' | 'keys' | 'values' | 'd_keys' | 'd_values';

export interface ChunkBuffers {
  /** x_0 … x_L. */
  readonly hidden: readonly Tensor[];
  /** Gradients of hidden states: block l reads one of the two and writes the other. */
  readonly cotangents: readonly [Tensor, Tensor];
  readonly sequence: Readonly<Record<SequenceBuffer, Tensor>>;
  /** [C,H*hd] for every chunk of the queries; empty where chunks are views. */
  readonly chunks: readonly Tensor[];
}

/** What the scratch memory has to give, in the order in which `chunkBuffers` expects it. */
export function chunkBufferDims(shape: ChunkBufferShape): Dims[] {
  const { layers, tokens, length, width, queryWidth, keyWidth, apart } = shape;
  const hidden = Array.from({ length: layers + 3 }, () => [tokens, width]);
  const ofQueries = Array.from({ length: 4 }, () => [length, queryWidth]);
  const ofKeys = Array.from({ length: 4 }, () => [length, keyWidth]);
  const ofChunks =
    apart === undefined ? [] : Array.from({ length: length / apart }, () => [apart, queryWidth]);
  return [...hidden, ...ofQueries, ...ofKeys, ...ofChunks];
}

const sequenceBuffers = [
  'queries',
  'context',
  'd_queries',
  'd_context',
  'keys',
  'values',
  'd_keys',
  'd_values',
] as const satisfies readonly SequenceBuffer[];

export function chunkBuffers(layers: number, tensors: readonly Tensor[]): ChunkBuffers {
  const first = layers + 3;
  return {
    hidden: tensors.slice(0, layers + 1),
    cotangents: [tensors[layers + 1]!, tensors[layers + 2]!],
    sequence: Object.fromEntries(sequenceBuffers.map((name, i) => [name, tensors[first + i]!])) as Record<
      SequenceBuffer,
      Tensor
    >,
    chunks: tensors.slice(first + sequenceBuffers.length),
  };
}
