// What a head computes of gathered rows: its graphs, its parameters, and what goes in and comes out with every row.
// R: rows of a chunk.

import type { Graph } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import { headScoringGraph, headTrainingGraph } from '../models/decoder-ends.ts';
import { divergenceScoringGraph, divergenceTrainingGraph } from '../models/divergence-head.ts';
import type { DivergenceForm, TeacherForm } from '../models/divergence-head.ts';
import { finalNormName, headName, scoreName } from '../models/decoder-tensors.ts';
import { scalarScoringGraph, scalarTrainingGraph } from '../models/scalar-head.ts';
import { plainForm } from '../models/model-form.ts';
import type { ModelForm } from '../models/model-form.ts';

/** `score` computes no gradient; `backward` writes those of the head's parameters, `accumulate` adds to them. */
export type HeadPass = 'score' | 'backward' | 'accumulate';

/** One number a row, [R], or so many of float32, [R,width]. */
export type RowInput = 'int32' | 'float32' | { readonly width: number };

export interface HeadDefinition {
  readonly name: 'language head' | 'scalar head' | 'divergence head';
  /** Names of the parameters by their role in the graphs. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Names of inputs that are another model's parameters. */
  readonly lent?: readonly string[];
  /** Inputs of every row in every pass; and those of training alone. */
  readonly rowInputs: Readonly<Record<string, RowInput>>;
  readonly trainingInputs: Readonly<Record<string, RowInput>>;
  /** Inputs of one number, float32. */
  readonly scalars: readonly string[];
  /** Outputs of one number a row, float32 [R]. */
  readonly rowOutputs: readonly string[];
  /** R of the next chunk where `rows` are left. */
  chunkSize(rows: number): number;
  /**
   * Inputs x [R,D], the parameters and the above; in training also d_x [R,D] and, of the parameters that are trained,
   * d_ROLE, previous_ROLE included in `accumulate`.
   */
  graph(pass: HeadPass, rows: number): Graph;
}

/** Elements of a chunk's logits [R,V]: 64 MB a tensor, of which a backward holds about four. */
const logitElements = 1 << 24;
/** Even of the smallest vocabulary: the chunk's size must not follow the length of the sequences. */
const mostRows = 4096;

/** Rows of the chunks for `rows` rows: at most what `logitElements` allows, and at most a quarter of it is filling. */
export function headChunkSize(rows: number, vocabSize: number): number {
  const largest = Math.min(mostRows, Math.max(16, 2 ** Math.floor(Math.log2(logitElements / vocabSize))));
  if (rows >= largest) return largest;
  const step = Math.max(16, 2 ** Math.floor(Math.log2(rows)) / 4);
  return Math.ceil(rows / step) * step;
}

/** Log-probabilities of given tokens, with the entropy of the distribution they come from. */
const languageHead = (config: DecoderConfig, form: ModelForm = plainForm): HeadDefinition => ({
  name: 'language head',
  parameters: { norm: finalNormName, head: headName(config) },
  rowInputs: { targets: 'int32' },
  trainingInputs: { weights: 'float32' },
  scalars: ['inverse_temperature'],
  rowOutputs: ['log_probs', 'entropy'],
  chunkSize: (rows) => headChunkSize(rows, config.vocabSize),
  graph: (pass, rows) =>
    pass === 'score'
      ? headScoringGraph(config, rows, form)
      : headTrainingGraph(config, rows, pass === 'accumulate', form),
});

/**
 * The same, and how far the distribution is from a teacher's. The teacher's last hidden states come with every row, its norm and
 * head are lent. Two models' logits are made: the chunks are half as large.
 */
export const divergenceHead = (
  config: DecoderConfig,
  form: ModelForm,
  teacher: TeacherForm,
  divergence: DivergenceForm,
): HeadDefinition => {
  const { parameters, rowInputs, trainingInputs, scalars, rowOutputs } = languageHead(config, form);
  return {
    name: 'divergence head',
    parameters,
    lent: ['teacher_norm', 'teacher_head'],
    rowInputs: { ...rowInputs, teacher_x: { width: teacher.hiddenSize } },
    trainingInputs,
    scalars,
    rowOutputs: [...rowOutputs, 'teacher_log_probs', 'divergence'],
    chunkSize: (rows) => headChunkSize(rows, 2 * config.vocabSize),
    graph: (pass, rows) => {
      const shape = { rows, form, teacher, divergence };
      return pass === 'score'
        ? divergenceScoringGraph(config, shape)
        : divergenceTrainingGraph(config, shape, pass === 'accumulate');
    },
  };
};

/** One value a row, of reward models; in training the caller says what its loss makes of them. */
const scalarHead = (config: DecoderConfig): HeadDefinition => ({
  name: 'scalar head',
  parameters: { norm: finalNormName, score: scoreName },
  rowInputs: {},
  trainingInputs: { cotangents: 'float32' },
  scalars: [],
  rowOutputs: ['values'],
  chunkSize: (rows) => headChunkSize(rows, 1),
  graph: (pass, rows) =>
    pass === 'score'
      ? scalarScoringGraph(config, rows)
      : scalarTrainingGraph(config, rows, pass === 'accumulate'),
});

/** The head that the model has. The scalar head is float32 whatever the form. */
export const headOf = (config: DecoderConfig, form: ModelForm = plainForm): HeadDefinition =>
  config.scalarHead ? scalarHead(config) : languageHead(config, form);
