// The plan follows from model, lengths and budgets alone, and no graph that it leads to has a tensor of length squared
// or of tokens x vocabulary.
import { describe, expect, it } from 'vitest';
import type { Graph } from '../../../runner/engine/graph/graph.ts';
import { elementCount } from '../../../runner/engine/graph/shape.ts';
import { keysOfChunk } from '../../../runner/engine/learner/chunk-sessions.ts';
import { headChunkSize } from '../../../runner/engine/learner/head-definition.ts';
import { microBatchBytes, planMicroBatches } from '../../../runner/engine/learner/memory-plan.ts';
import type { MemoryBudget } from '../../../runner/engine/learner/memory-plan.ts';
import { rowChunk } from '../../../runner/engine/learner/slices.ts';
import { defaultMemoryBytes } from '../../../runner/engine/learner/token-budget.ts';
import {
  chunkAttentionBackwardGraph,
  chunkAttentionGraph,
  chunkEndBackwardGraph,
  chunkProjectionBackwardGraph,
} from '../../../runner/engine/models/decoder-chunks.ts';
import { headTrainingGraph } from '../../../runner/engine/models/decoder-ends.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';

const MB = 2 ** 20;

/** The 20 M model of the engine bench. */
const bench: DecoderConfig = {
  family: 'llama',
  vocabSize: 1024,
  hiddenSize: 512,
  intermediateSize: 1376,
  layers: 6,
  heads: 8,
  kvHeads: 8,
  headSize: 64,
  maxPositions: 40_960,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  qkvBias: false,
  qkNorm: false,
  tieWordEmbeddings: false,
  initializerRange: 0.02,
};
const large: DecoderConfig = {
  ...bench,
  vocabSize: 151_936,
  hiddenSize: 1024,
  intermediateSize: 3072,
  layers: 28,
  heads: 16,
  headSize: 128,
};
const eight = Array<number>(8).fill(256);
const of = (memoryBytes: number, more: Partial<MemoryBudget> = {}): MemoryBudget => ({
  memoryBytes,
  tokenBudget: 2048,
  ...more,
});

describe('planMicroBatches', () => {
  it('keeps activations where they fit, else recomputes, else takes fewer rows', () => {
    const modes = [2048, 400, 130].map((megabytes) => {
      const [plan] = planMicroBatches(bench, eight, of(megabytes * MB));
      expect(plan!.bytes).toBeLessThanOrEqual(megabytes * MB);
      return [plan!.activations, plan!.rows, plan!.attentionChunk];
    });
    expect(modes).toEqual([
      ['kept', 8, null],
      ['recomputed', 8, null],
      ['recomputed', 4, null],
    ]);
  });

  it('gives one row to a length that fits no budget, and tells what it takes', () => {
    const [plan] = planMicroBatches(bench, [256], of(1));
    expect(plan).toMatchObject({ length: 256, sequences: 1, rows: 1, activations: 'recomputed' });
    expect(plan!.bytes).toBe(
      microBatchBytes(bench, { length: 256, rows: 1, activations: 'recomputed', attentionChunk: null }),
    );
  });

  it('runs attention over chunks that divide the length once its scores are large', () => {
    for (const length of [2048, 4096, 5000, 16_384, 40_960]) {
      const [plan] = planMicroBatches(bench, [length], of(2 ** 40));
      expect(plan!.activations).toBe('recomputed');
      expect(plan!.length % plan!.attentionChunk!).toBe(0);
      expect(plan!.attentionChunk!).toBeGreaterThanOrEqual(32);
    }
  });

  it('has one entry a padded length, in order, whatever the order of the sequences', () => {
    const lengths = [100, 20, 97, 256, 24, 17];
    const plan = planMicroBatches(bench, lengths, of(2 ** 40));
    expect(plan.map(({ length, sequences }) => [length, sequences])).toEqual([
      [24, 3],
      [104, 2],
      [256, 1],
    ]);
    expect(planMicroBatches(bench, [...lengths].reverse(), of(2 ** 40))).toEqual(plan);
  });

  it('reckons with memory that grows with depth by block inputs only, where blocks recompute', () => {
    const shape = { length: 4096, rows: 1, activations: 'recomputed', attentionChunk: 128 } as const;
    const deeper = microBatchBytes({ ...bench, layers: 24 }, shape) - microBatchBytes(bench, shape);
    expect(deeper).toBe(18 * 4096 * 512 * 4);
  });
});

describe('the default memory budget', () => {
  it('is a power of two from a quarter to half of what parameters leave, and never nothing', () => {
    expect(defaultMemoryBytes(0, 16 * 1024 * MB)).toBe(8192 * MB);
    expect(defaultMemoryBytes(64 * MB, 16 * 1024 * MB)).toBe(4096 * MB);
    expect(defaultMemoryBytes(10_000 * MB, 1024 * MB)).toBe(256 * MB);
  });
});

function largestTensor(graph: Graph): number {
  return Math.max(...graph.nodes.flatMap(({ outputs }) => outputs.map(({ shape }) => elementCount(shape))));
}

describe.each([
  ['20 M', bench],
  ['0.6 B', large],
])('tensors of a long sequence, %s', (_, config) => {
  it('are bounded by chunk x length, and logits by the head chunk', () => {
    const length = 16_384;
    const queries = planMicroBatches(config, [length], of(2 ** 40))[0]!.attentionChunk!;
    const rows = rowChunk(config, length);
    const widest = Math.max(config.intermediateSize, config.heads * config.headSize);
    for (const keys of [keysOfChunk(length, queries, 0), length])
      for (const graph of [chunkAttentionGraph, chunkAttentionBackwardGraph])
        expect(largestTensor(graph(config, { queries, keys }))).toBe(
          Math.max(config.heads * queries * keys, config.kvHeads * config.headSize * keys),
        );
    // Weight gradients aside, which are as large as weights.
    const weight = config.intermediateSize * config.hiddenSize;
    for (const graph of [chunkProjectionBackwardGraph, chunkEndBackwardGraph])
      expect(largestTensor(graph(config, rows))).toBeLessThanOrEqual(Math.max(weight, rows * widest));
    const headRows = headChunkSize(length, config.vocabSize);
    const logits = headRows * config.vocabSize;
    expect(largestTensor(headTrainingGraph(config, headRows, true))).toBeLessThanOrEqual(
      Math.max(logits, config.vocabSize * config.hiddenSize),
    );
    expect(logits).toBeLessThanOrEqual(2 ** 24);
    expect(headChunkSize(8 * length, config.vocabSize)).toBe(headRows);
    expect(headRows).toBeLessThanOrEqual(length / 4);
  });
});

it('shows a chunk of queries every key that it may see, in few different numbers', () => {
  for (const [length, queries] of [
    [64, 8],
    [16_384, 64],
    [5120, 64],
    [1152, 1152],
  ] as const) {
    const keys = Array.from({ length: length / queries }, (_, chunk) => keysOfChunk(length, queries, chunk));
    keys.forEach((count, chunk) => expect(count).toBeGreaterThanOrEqual((chunk + 1) * queries));
    expect(Math.max(...keys)).toBe(length);
    expect(new Set(keys).size).toBeLessThanOrEqual(8);
  }
});
