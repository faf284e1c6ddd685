// The smallest Llama that has everything: several layers, grouped queries, an FFN that is no multiple of the width.
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';

export const tinyConfig: DecoderConfig = {
  family: 'llama',
  vocabSize: 11,
  hiddenSize: 16,
  intermediateSize: 20,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 4,
  maxPositions: 64,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  qkvBias: false,
  qkNorm: false,
  tieWordEmbeddings: false,
  initializerRange: 0.02,
};
