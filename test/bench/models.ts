// The models that are measured: Llamas of 0.8, 20 and 100 million parameters with random weights.

import type { DecoderConfig } from '../../runner/engine/models/config.ts';

const common = {
  family: 'llama',
  maxPositions: 1024,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  qkvBias: false,
  qkNorm: false,
  tieWordEmbeddings: false,
  initializerRange: 0.02,
} as const;

/** 0.4 M: for devices on which the others would take hours. */
export const llama400k: DecoderConfig = {
  ...common,
  vocabSize: 256,
  hiddenSize: 128,
  intermediateSize: 344,
  layers: 2,
  heads: 4,
  kvHeads: 4,
  headSize: 32,
};

export const llama800k: DecoderConfig = {
  ...common,
  vocabSize: 32,
  hiddenSize: 128,
  intermediateSize: 344,
  layers: 4,
  heads: 4,
  kvHeads: 4,
  headSize: 32,
};

/** 3.7 M: the size of the prototype that figures of an in-place cache are compared with. */
export const llama4m: DecoderConfig = {
  ...common,
  vocabSize: 1024,
  hiddenSize: 256,
  intermediateSize: 688,
  layers: 4,
  heads: 4,
  kvHeads: 4,
  headSize: 64,
};

export const llama20m: DecoderConfig = {
  ...common,
  vocabSize: 1024,
  hiddenSize: 512,
  intermediateSize: 1376,
  layers: 6,
  heads: 8,
  kvHeads: 8,
  headSize: 64,
};

export const llama100m: DecoderConfig = {
  ...common,
  vocabSize: 8192,
  hiddenSize: 768,
  intermediateSize: 2048,
  layers: 12,
  heads: 12,
  kvHeads: 12,
  headSize: 64,
};
