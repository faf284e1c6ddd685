// The two graphs of sampling: prefill (the prompt into a cache, no logits) and decode (one token of every row in, the next
// one out). The prompt's last token is left to the first decode step, so that only decode needs the head and the draw.
import { Graph } from '../graph/graph.ts';
import type { LlamaConfig } from '../models/config.ts';
import { gemm } from '../ops/matmul.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { cachedBlocks } from './cached-blocks.ts';
import type { CacheShape } from './cached-blocks.ts';
import { drawTokens, greedyTokens } from './draw.ts';

/** S prompt tokens of one row. With a past, several tokens at once need a batch of 1; without one so do unequal lengths. */
export function prefillGraph(config: LlamaConfig, capacity: number, S: number): Graph {
  const graph = new Graph();
  cachedBlocks(graph, config, { B: 1, capacity }, S);
  return graph;
}

/** Outputs next_tokens [B] and log_probs [B]; inputs uniform [B,1] and inverse_temperature unless greedy. */
export function decodeGraph(config: LlamaConfig, shape: CacheShape, greedy: boolean): Graph {
  const graph = new Graph();
  const x = cachedBlocks(graph, config, shape, 1);
  const normal = rmsNorm(x, graph.input('final_norm', 'float32', [config.hiddenSize]), config.rmsNormEps);
  const logits = gemm(normal, graph.input('head', 'float32', [config.vocabSize, config.hiddenSize]), {
    transB: true,
  });
  const { tokens, logProbs } = greedy
    ? greedyTokens(logits)
    : drawTokens(
        logits,
        graph.input('uniform', 'float32', [shape.B, 1]),
        graph.input('inverse_temperature', 'float32', []),
      );
  graph.output('next_tokens', tokens);
  graph.output('log_probs', logProbs);
  return graph;
}
