// From logits to the next token and its three log-probabilities. Which draw a graph holds is fixed when it is built; its
// numbers (temperature, k, p, bias) are inputs, so that a handful of variants serves every setting.
import { add, mul } from '../ops/arithmetic.ts';
import type { Graph, Value } from '../graph/graph.ts';
import { drawTokens, greedyTokens, logProbsOf } from './draw.ts';
import { drawTruncated } from './truncate.ts';

/**
 * `greedy`: the likeliest word. `plain`: temperature 1. `tempered`: any temperature. `narrow`: truncated, sorting the
 * likeliest words only. `wide`: truncated, sorting all.
 */
export type Draw = 'greedy' | 'plain' | 'tempered' | 'narrow' | 'wide';

export interface DrawVariant {
  readonly draw: Draw;
  /** A bias is added to the logits before anything else. */
  readonly biased: boolean;
}

/** Words that a `narrow` draw sorts. */
export const narrowWidth = (vocabSize: number): number => Math.min(256, vocabSize);

interface Choice {
  readonly tokens: Value;
  /** Under what the token was drawn from: biased, at T, truncated. */
  readonly samplingLogProbs: Value;
  /** Under softmax(logits / T); undefined where it is the same. */
  readonly logProbs?: Value;
  readonly beyond?: Value;
}

/**
 * Declares the outputs next_tokens, sampling_log_probs, log_probs (at T; greedy: at 1) and log_probs_at_one, all [B], and
 * beyond [B] of a `narrow` draw. The last two log-probabilities are the model's own: without bias, untruncated.
 */
export function chooseTokens(graph: Graph, logits: Value, { draw, biased }: DrawVariant): void {
  const V = logits.shape[1]!;
  const steered = biased ? add(logits, graph.input('logit_bias', 'float32', [1, V])) : logits;
  const choice =
    draw === 'greedy' ? greedyChoice(logits, steered) : drawnChoice(graph, logits, steered, draw);
  const logProbs = choice.logProbs ?? choice.samplingLogProbs;
  const isAtOne = draw === 'greedy' || draw === 'plain';
  graph.output('next_tokens', choice.tokens);
  graph.output('sampling_log_probs', choice.samplingLogProbs);
  graph.output('log_probs', logProbs);
  graph.output('log_probs_at_one', isAtOne ? logProbs : logProbsOf(logits, choice.tokens));
  if (choice.beyond !== undefined) graph.output('beyond', choice.beyond);
}

function greedyChoice(logits: Value, steered: Value): Choice {
  const { tokens, logProbs } = greedyTokens(steered);
  const B = tokens.shape[0]!;
  return {
    tokens,
    // The only word that it can choose: probability 1.
    samplingLogProbs: logits.graph.filled([B], 0),
    logProbs: steered === logits ? logProbs : logProbsOf(logits, tokens),
  };
}

function drawnChoice(graph: Graph, logits: Value, steered: Value, draw: Exclude<Draw, 'greedy'>): Choice {
  const [B, V] = logits.shape as [number, number];
  const uniform = graph.input('uniform', 'float32', [B, 1]);
  const inverseTemperature = graph.input('inverse_temperature', 'float32', []);
  const untruncated = (tokens: Value) => logProbsOf(mul(logits, inverseTemperature), tokens);
  if (draw === 'plain' || draw === 'tempered') {
    const { tokens, logProbs } = drawTokens(steered, uniform, inverseTemperature);
    return steered === logits
      ? { tokens, samplingLogProbs: logProbs }
      : { tokens, samplingLogProbs: logProbs, logProbs: untruncated(tokens) };
  }
  const truncation = {
    topK: graph.input('top_k', 'int32', []),
    topP: graph.input('top_p', 'float32', []),
    minP: graph.input('min_p', 'float32', []),
  };
  const width = draw === 'narrow' ? narrowWidth(V) : V;
  const drawn = drawTruncated(steered, uniform, inverseTemperature, truncation, width);
  return {
    tokens: drawn.tokens,
    samplingLogProbs: drawn.samplingLogProbs,
    logProbs: steered === logits ? drawn.logProbs : untruncated(drawn.tokens),
    ...(draw === 'narrow' ? { beyond: drawn.beyond } : {}),
  };
}
