// The two ends of a decoder around its blocks: the embedding, and the head (final norm, logits, log-probabilities).
// The head sees R gathered rows, never whole padded sequences: prompts and padding cost it nothing, and R bounds
// the size of its logits [R,V].

import { gradients } from '../graph/grad.ts';
import type { Seed } from '../graph/grad.ts';
import { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { accumulate } from '../ops/accumulate.ts';
import { neg } from '../ops/arithmetic.ts';
import { gatherRows } from '../ops/gather.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { entropy, tokenLogProb } from '../ops/token-log-prob.ts';
import type { DecoderConfig } from './config.ts';
import { gradientOf, previousOf } from './decoder-block.ts';
import { linear } from './linear.ts';
import { plainForm } from './model-form.ts';
import type { ModelForm } from './model-form.ts';

/** table [V,D], tokens [T] of int32 -> y [T,D]. */
export function embeddingGraph({ vocabSize, hiddenSize }: DecoderConfig, rows: number): Graph {
  const graph = new Graph();
  const table = graph.input('table', 'float32', [vocabSize, hiddenSize]);
  graph.output('y', gatherRows(table, graph.input('tokens', 'int32', [rows])));
  return graph;
}

/** x [R,D] before the final norm, norm [D], head [V,D] -> [R,V]. */
export function logitsOf(
  x: Value,
  norm: Value,
  head: Value,
  { rmsNormEps }: Pick<DecoderConfig, 'rmsNormEps'>,
  { operands }: ModelForm = plainForm,
): Value {
  return linear(rmsNorm(x, norm, rmsNormEps), head, { operands });
}

export interface HeadForward {
  readonly graph: Graph;
  readonly x: Value;
  readonly norm: Value;
  readonly head: Value;
  readonly targets: Value;
  readonly inverseTemperature: Value;
  /** [R,V]. */
  readonly logits: Value;
  readonly logProbs: Value;
}

/** The language head's graph without gradients, open for more. */
export function headForward(config: DecoderConfig, rows: number, form: ModelForm): HeadForward {
  const { vocabSize: V, hiddenSize: D } = config;
  const graph = new Graph();
  const x = graph.input('x', 'float32', [rows, D]);
  const norm = graph.input('norm', 'float32', [D]);
  const head = graph.input('head', 'float32', [V, D]);
  const targets = graph.input('targets', 'int32', [rows]);
  const inverseTemperature = graph.input('inverse_temperature', 'float32', []);
  const logits = logitsOf(x, norm, head, config, form);
  const logProbs = tokenLogProb(logits, targets, inverseTemperature);
  graph.output('log_probs', logProbs);
  graph.output('entropy', entropy(logits, inverseTemperature));
  return { graph, x, norm, head, targets, inverseTemperature, logits, logProbs };
}

/** x [R,D], targets [R] -> log_probs [R] of the targets and entropy [R] of the distribution, both at the temperature. */
export function headScoringGraph(config: DecoderConfig, rows: number, form: ModelForm = plainForm): Graph {
  return headForward(config, rows, form).graph;
}

/** What the head is given, and what its training gives gradients of: nothing where adapters alone are trained. */
const headRoles = ['norm', 'head'] as const;
const trainedHeadRoles = ({ lora }: ModelForm): readonly (typeof headRoles)[number][] =>
  lora ? [] : headRoles;

/**
 * The same with weights [R]: also d_x [R,D] and, where they are trained, d_norm, d_head, the gradient of
 * loss = - sum weights * log_probs. With `accumulating`, d_norm and d_head include previous_norm and previous_head.
 */
export function headTrainingGraph(
  config: DecoderConfig,
  rows: number,
  accumulating: boolean,
  form: ModelForm = plainForm,
): Graph {
  const forward = headForward(config, rows, form);
  const cotangent = neg(forward.graph.input('weights', 'float32', [rows]));
  outputHeadGradients(forward, { value: forward.logProbs, cotangent }, accumulating, form);
  return forward.graph;
}

/** Outputs d_x, d_norm and d_head of a head's graph, as `headTrainingGraph` says, of the loss whose seed is given. */
export function outputHeadGradients(
  { graph, ...inputs }: HeadForward,
  seed: Seed,
  accumulating: boolean,
  form: ModelForm,
): void {
  const roles = trainedHeadRoles(form);
  const [dx, ...dWeights] = gradients([seed], [inputs.x, ...roles.map((role) => inputs[role])]);
  graph.output('d_x', dx as Value);
  for (const [index, role] of roles.entries()) {
    const gradient = dWeights[index] as Value;
    const total = accumulating
      ? accumulate(graph.input(previousOf(role), 'float32', gradient.shape), gradient)
      : gradient;
    graph.output(gradientOf(role), total);
  }
}
