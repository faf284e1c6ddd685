// The buffers of one micro-batch of long sequences: hidden states and cotangents of all of them, and what attention
// of a single sequence reads and writes, which all sequences and layers share. All lie in the learner's scratch memory.

import { paddedSize } from './scratch.ts';
import type { Scratch } from './scratch.ts';

/** Rows of `width` elements. */
export interface Buffer {
  readonly data: Float32Array;
  readonly width: number;
}

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
}

export type SequenceBuffer =
  'queries' | 'context' | 'd_queries' | 'd_context' | 'keys' | 'values' | 'd_keys' | 'd_values';

export interface ChunkBuffers {
  /** x_0 … x_L. */
  readonly hidden: readonly Buffer[];
  /** Gradients of hidden states: block l reads one of the two and writes the other. */
  readonly cotangents: readonly [Buffer, Buffer];
  readonly sequence: Readonly<Record<SequenceBuffer, Buffer>>;
}

export function chunkBuffers(shape: ChunkBufferShape, scratch: Scratch): ChunkBuffers {
  const { layers, tokens, length, width, queryWidth, keyWidth } = shape;
  scratch.reset(
    (layers + 3) * paddedSize(tokens * width) +
      4 * (paddedSize(length * queryWidth) + paddedSize(length * keyWidth)),
  );
  const buffer = (rows: number, columns: number): Buffer => ({
    data: scratch.take(rows * columns),
    width: columns,
  });
  const hidden = (): Buffer => buffer(tokens, width);
  const ofQueries = (): Buffer => buffer(length, queryWidth);
  const ofKeys = (): Buffer => buffer(length, keyWidth);
  return {
    hidden: Array.from({ length: layers + 1 }, hidden),
    cotangents: [hidden(), hidden()],
    sequence: {
      queries: ofQueries(),
      context: ofQueries(),
      d_queries: ofQueries(),
      d_context: ofQueries(),
      keys: ofKeys(),
      values: ofKeys(),
      d_keys: ofKeys(),
      d_values: ofKeys(),
    },
  };
}
