// The two ends of a decoder around its blocks: the embedding, and the head (final norm, logits, log-probabilities).
// The head sees R gathered rows, never whole padded sequences: prompts and padding cost it nothing, and R bounds
// the size of its logits [R,V].

import { gradients } from '../graph/grad.ts';
import { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { accumulate } from '../ops/accumulate.ts';
import { neg } from '../ops/arithmetic.ts';
import { gatherRows } from '../ops/gather.ts';
import { gemm } from '../ops/matmul.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { entropy, tokenLogProb } from '../ops/token-log-prob.ts';
import type { DecoderConfig } from './config.ts';
import { gradientOf, previousOf } from './decoder-block.ts';

/** table [V,D], tokens [T] of int32 -> y [T,D]. */
export function embeddingGraph({ vocabSize, hiddenSize }: DecoderConfig, rows: number): Graph {
  const graph = new Graph();
  const table = graph.input('table', 'float32', [vocabSize, hiddenSize]);
  graph.output('y', gatherRows(table, graph.input('tokens', 'int32', [rows])));
  return graph;
}

/** x [R,D] before the final norm, norm [D], head [V,D] -> [R,V]. */
export function logitsOf(x: Value, norm: Value, head: Value, { rmsNormEps }: DecoderConfig): Value {
  return gemm(rmsNorm(x, norm, rmsNormEps), head, { transB: true });
}

interface Head {
  readonly graph: Graph;
  readonly x: Value;
  readonly norm: Value;
  readonly head: Value;
  readonly logProbs: Value;
}

function headForward(config: DecoderConfig, rows: number): Head {
  const { vocabSize: V, hiddenSize: D } = config;
  const graph = new Graph();
  const x = graph.input('x', 'float32', [rows, D]);
  const norm = graph.input('norm', 'float32', [D]);
  const head = graph.input('head', 'float32', [V, D]);
  const targets = graph.input('targets', 'int32', [rows]);
  const inverseTemperature = graph.input('inverse_temperature', 'float32', []);
  const logits = logitsOf(x, norm, head, config);
  const logProbs = tokenLogProb(logits, targets, inverseTemperature);
  graph.output('log_probs', logProbs);
  graph.output('entropy', entropy(logits, inverseTemperature));
  return { graph, x, norm, head, logProbs };
}

/** x [R,D], targets [R] -> log_probs [R] of the targets and entropy [R] of the distribution, both at the temperature. */
export function headScoringGraph(config: DecoderConfig, rows: number): Graph {
  return headForward(config, rows).graph;
}

/**
 * The same with weights [R]: also d_x [R,D], d_norm, d_head, the gradient of loss = - sum weights * log_probs.
 * With `accumulating`, d_norm and d_head include previous_norm and previous_head.
 */
export function headTrainingGraph(config: DecoderConfig, rows: number, accumulating: boolean): Graph {
  const { graph, x, norm, head, logProbs } = headForward(config, rows);
  const cotangent = neg(graph.input('weights', 'float32', [rows]));
  const [dx, dNorm, dHead] = gradients([{ value: logProbs, cotangent }], [x, norm, head]) as [
    Value,
    Value,
    Value,
  ];
  const total = (role: string, gradient: Value): Value =>
    accumulating ? accumulate(graph.input(previousOf(role), 'float32', gradient.shape), gradient) : gradient;
  graph.output('d_x', dx);
  graph.output(gradientOf('norm'), total('norm', dNorm));
  graph.output(gradientOf('head'), total('head', dHead));
  return graph;
}
