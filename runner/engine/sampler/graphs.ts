// The two graphs of sampling: prefill (the prompt into a cache, no logits) and decode (one token of every row in, the next
// one out). The prompt's last token is left to the first decode step, so that only decode needs the head and the draw.
import { Graph } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { cachedBlocks } from './cached-blocks.ts';
import type { CacheShape } from './cached-blocks.ts';
import { chooseTokens } from './choose.ts';
import type { DrawVariant } from './choose.ts';
import { stepProduct } from './few-rows.ts';

/** S prompt tokens of one row. With a past, several tokens at once need a batch of 1; without one so do unequal lengths. */
export function prefillGraph(config: DecoderConfig, shape: Omit<CacheShape, 'B'>, S: number): Graph {
  const graph = new Graph();
  cachedBlocks(graph, config, { ...shape, B: 1 }, S);
  return graph;
}

/** Inputs of the draw and outputs as `chooseTokens` declares them. */
export function decodeGraph(config: DecoderConfig, shape: CacheShape, variant: DrawVariant): Graph {
  const graph = new Graph();
  const x = cachedBlocks(graph, config, shape, 1);
  const norm = graph.input('final_norm', 'float32', [config.hiddenSize]);
  const head = graph.input('head', 'float32', [config.vocabSize, config.hiddenSize]);
  chooseTokens(graph, stepProduct(rmsNorm(x, norm, config.rmsNormEps), head, shape), variant);
  return graph;
}
