// The head that compares the distribution of every row with a teacher's: both models' final norm and logits in one graph, so that
// no [R,V] of the teacher ever leaves it. Teacher and policy may be of different width; they share the vocabulary.

import type { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { divergence } from '../ops/divergence.ts';
import type { HalfOperands } from '../ops/half-operands.ts';
import { tokenLogProb } from '../ops/token-log-prob.ts';
import type { DecoderConfig } from './config.ts';
import { headForward, logitsOf, outputHeadGradients } from './decoder-ends.ts';
import type { HeadForward } from './decoder-ends.ts';
import type { ModelForm } from './model-form.ts';

export interface DivergenceForm {
  /** 0: KL(teacher || policy); 1: KL(policy || teacher); between: generalised Jensen-Shannon. */
  readonly beta: number;
  /** Words likeliest to the teacher, the rest counted as one; undefined: the whole vocabulary. */
  readonly topK?: number | undefined;
}

/** What of a teacher its head's graph depends on. */
export interface TeacherForm extends Pick<DecoderConfig, 'hiddenSize' | 'rmsNormEps'> {
  readonly operands: HalfOperands | undefined;
}

/** What a graph of the head is made for. */
export interface DivergenceHeadShape {
  readonly rows: number;
  /** Of the policy. */
  readonly form: ModelForm;
  readonly teacher: TeacherForm;
  readonly divergence: DivergenceForm;
}

interface DivergenceHead {
  readonly own: HeadForward;
  readonly distance: Value;
}

function divergenceForward(
  config: DecoderConfig,
  { rows, form, teacher, divergence: { beta, topK } }: DivergenceHeadShape,
): DivergenceHead {
  const own = headForward(config, rows, form);
  const { graph, logits, targets, inverseTemperature } = own;
  const { hiddenSize: D, operands } = teacher;
  const x = graph.input('teacher_x', 'float32', [rows, D]);
  const norm = graph.input('teacher_norm', 'float32', [D]);
  const head = graph.input('teacher_head', 'float32', [config.vocabSize, D]);
  const teacherLogits = logitsOf(x, norm, head, teacher, { operands });
  const distance = divergence(logits, teacherLogits, inverseTemperature, { beta, topK });
  graph.output('teacher_log_probs', tokenLogProb(teacherLogits, targets, inverseTemperature));
  graph.output('divergence', distance);
  return { own, distance };
}

/**
 * What the language head is given, and of the teacher x [R,D'], norm [D'] and head [V,D'] -> what the language head gives, and
 * teacher_log_probs [R] of the targets and divergence [R], all at the temperature.
 */
export const divergenceScoringGraph = (config: DecoderConfig, shape: DivergenceHeadShape): Graph =>
  divergenceForward(config, shape).own.graph;

/**
 * The same with weights [R]: also d_x [R,D] and, where they are trained, d_norm, d_head, the gradient of loss = sum weights *
 * divergence, nothing flowing to the teacher. With `accumulating` as the language head's.
 */
export function divergenceTrainingGraph(
  config: DecoderConfig,
  shape: DivergenceHeadShape,
  accumulating: boolean,
): Graph {
  const { own, distance } = divergenceForward(config, shape);
  const cotangent = own.graph.input('weights', 'float32', [shape.rows]);
  outputHeadGradients(own, { value: distance, cotangent }, accumulating, shape.form);
  return own.graph;
}
