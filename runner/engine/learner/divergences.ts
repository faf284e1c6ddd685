// How far the distribution of every scored token is from a teacher's: the teacher runs over the sequences of a micro-batch first
// and leaves its last hidden states, from which the head makes the teacher's logits beside the policy's own, chunk by chunk.
// Whole distributions are compared, and none outlives its chunk.

import type { DivergenceForm, TeacherForm } from '../models/divergence-head.ts';
import { finalNormName, headName } from '../models/decoder-tensors.ts';
import type { Head, HeadRows, HeadResult } from './head.ts';
import { divergenceHead } from './head-definition.ts';
import type { MicroBatch, WeightedSequence } from './micro-batches.ts';
import type { Passes } from './passes.ts';
import { scoredRows } from './scored-rows.ts';
import type { Scorer } from './scorer.ts';
import { checkTemperature, RowMean, TokenColumn } from './token-scores.ts';
import type { Scores } from './token-scores.ts';

export interface DivergenceOptions extends DivergenceForm {
  /** Of both distributions. */
  readonly temperature: number;
}

/** All of them by sequence and token, as log-probabilities are. */
export interface Divergences extends Scores {
  /** In nats. */
  readonly divergences: readonly Float32Array[];
  /** log pi of the teacher. */
  readonly teacherLogProbs: readonly Float32Array[];
}

/** With `train` the gradient of the sum of weights * divergence is added. `passes` must be those of a language head. */
export async function divergences(
  passes: Passes,
  sequences: readonly WeightedSequence[],
  teacher: Scorer,
  { temperature, ...form }: DivergenceOptions,
  train: boolean,
): Promise<Divergences> {
  checkTemperature(temperature);
  passes.expectHead('language head', 'distributions');
  checkTeacher(passes, sequences, teacher);
  const head = headBeside(passes, teacher, form);
  const column = (): TokenColumn => new TokenColumn(sequences);
  const columns = { log_probs: column(), teacher_log_probs: column(), divergence: column() };
  const entropy = new RowMean();
  const take = (microBatch: MicroBatch, rows: HeadRows, result: HeadResult): void => {
    for (const [name, values] of Object.entries(columns)) values.put(microBatch, rows, result[name]!);
    entropy.put(result['entropy']!);
  };
  const rowsOf = (microBatch: MicroBatch) => rowsBeside(microBatch, sequences, teacher);
  const scalars = { inverse_temperature: 1 / temperature };
  const { weights } = teacher;
  const lent = head.lend({
    teacher_norm: weights.tensor(finalNormName),
    teacher_head: weights.tensor(headName(teacher.config)),
  });
  try {
    const plan = await passes.run(sequences, { head, scalars, rowsOf, take }, train);
    return {
      logProbs: columns.log_probs.byToken,
      meanEntropy: entropy.mean,
      divergences: columns.divergence.byToken,
      teacherLogProbs: columns.teacher_log_probs.byToken,
      plan,
    };
  } finally {
    lent[Symbol.dispose]();
  }
}

function checkTeacher(passes: Passes, sequences: readonly WeightedSequence[], teacher: Scorer): void {
  teacher.expectLanguageHead();
  const { vocabSize, maxPositions } = teacher.config;
  if (vocabSize !== passes.config.vocabSize)
    throw new Error(
      `the teacher has a vocabulary of ${vocabSize} words, the policy of ${passes.config.vocabSize}: whole distributions can be compared over one vocabulary only`,
    );
  const long = sequences.findIndex(({ tokens_T }) => tokens_T.length > maxPositions);
  if (long >= 0)
    throw new Error(
      `sequence ${long}: ${sequences[long]!.tokens_T.length} tokens, the teacher has ${maxPositions} positions`,
    );
}

function headBeside(passes: Passes, teacher: Scorer, form: DivergenceForm): Head {
  const { hiddenSize, rmsNormEps } = teacher.config;
  const ofTeacher: TeacherForm = { hiddenSize, rmsNormEps, operands: teacher.operands };
  return passes.head(`divergence ${JSON.stringify([form.beta, form.topK, ofTeacher])}`, () =>
    divergenceHead(passes.config, passes.form, ofTeacher, form),
  );
}

/** The rows that are scored, with the teacher's last hidden states at each. */
async function rowsBeside(
  microBatch: MicroBatch,
  sequences: readonly WeightedSequence[],
  teacher: Scorer,
): Promise<HeadRows> {
  const rows = scoredRows(microBatch);
  if (rows.rows_R.length === 0) return rows;
  const ofTeacher = await teacher.finalRows(microBatch.rows.map((index) => sequences[index]!));
  const teacher_x = new Float32Array(rows.rows_R.length * teacher.config.hiddenSize);
  let at = 0;
  for (const rows_ND of ofTeacher) {
    teacher_x.set(rows_ND, at);
    at += rows_ND.length;
  }
  return { ...rows, inputs: { ...rows.inputs, teacher_x } };
}
