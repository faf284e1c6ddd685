// Sizes of published models as their config.json files give them: the ladder that model sizes are reckoned for.
import type { ModelSizes } from '../api/contract/model-shape.ts';

const qwen3 = {
  modelType: 'qwen3',
  vocabSize: 151_936,
  kvHeads: 8,
  headSize: 128,
  maxPositions: 40_960,
} as const;

export const publishedModels: Readonly<Record<string, ModelSizes>> = {
  'Qwen3-0.6B': {
    ...qwen3,
    hiddenSize: 1024,
    intermediateSize: 3072,
    layers: 28,
    heads: 16,
    tieWordEmbeddings: true,
  },
  'Qwen3-1.7B': {
    ...qwen3,
    hiddenSize: 2048,
    intermediateSize: 6144,
    layers: 28,
    heads: 16,
    tieWordEmbeddings: true,
  },
  'Qwen3-4B': {
    ...qwen3,
    hiddenSize: 2560,
    intermediateSize: 9728,
    layers: 36,
    heads: 32,
    tieWordEmbeddings: true,
  },
  'Qwen3-8B': {
    ...qwen3,
    hiddenSize: 4096,
    intermediateSize: 12_288,
    layers: 36,
    heads: 32,
    tieWordEmbeddings: false,
  },
  'Qwen3-14B': {
    ...qwen3,
    hiddenSize: 5120,
    intermediateSize: 17_408,
    layers: 40,
    heads: 40,
    tieWordEmbeddings: false,
  },
  'Qwen3-32B': {
    ...qwen3,
    hiddenSize: 5120,
    intermediateSize: 25_600,
    layers: 64,
    heads: 64,
    tieWordEmbeddings: false,
  },
  'Llama-3.1-70B': {
    modelType: 'llama',
    vocabSize: 128_256,
    hiddenSize: 8192,
    intermediateSize: 28_672,
    layers: 80,
    heads: 64,
    kvHeads: 8,
    headSize: 128,
    maxPositions: 131_072,
    tieWordEmbeddings: false,
  },
};
