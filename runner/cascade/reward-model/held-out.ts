// What a reward model says of pairs that it is never trained on, as cells of the matrix: how often it orders them as their rows
// do, by how much, and whether its score goes with an answer's length, which a policy would learn to exploit.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import { evaluationEntries } from '../evaluation/entries.ts';
import { measuredCell } from '../evaluation/measured.ts';
import type { Measure } from '../evaluation/measured.ts';
import { normalQuantile } from '../evaluation/normal.ts';
import { Diverged } from '../diverged.ts';
import type { Evaluated } from '../point.ts';
import type { Host } from '../host.ts';
import { correlation, isOrdered, marginsOf } from './bradley-terry.ts';
import type { Pair, ValuedModel } from './pairs.ts';

export interface HeldOutOptions {
  readonly spec: ExpandedSpec;
  readonly model: ValuedModel;
  readonly pairs: readonly Pair[];
  readonly host: Pick<Host, 'emit'>;
}

/** In the place of the matrix of suites that other jobs have. */
export class HeldOut {
  readonly #options: HeldOutOptions;
  readonly #evaluations: Evaluated[];

  /** `before`: what a checkpoint says of the evaluations before it. */
  constructor(options: HeldOutOptions, before: readonly Evaluated[] = []) {
    this.#options = options;
    this.#evaluations = [...before];
  }

  get evaluations(): readonly Evaluated[] {
    return this.#evaluations;
  }

  /** At the end of stage `after`, or of the `initial` model. */
  async evaluate(after: string): Promise<void> {
    const { pairs, host } = this.#options;
    if (pairs.length === 0) return;
    const cells = await this.#cells();
    this.#evaluations.push({ after, cells });
    evaluationEntries({ after, step: null }, cells).forEach((entry) => host.emit(entry));
  }

  /** After `step` steps of the stage, where the spec wants that. */
  async evaluateWithin(stage: string, step: number): Promise<void> {
    const { spec, pairs, host } = this.#options;
    const { every_steps } = spec.evaluate;
    if (pairs.length === 0 || every_steps === undefined || step === 0 || step % every_steps !== 0) return;
    evaluationEntries({ after: stage, step }, await this.#cells()).forEach((entry) => host.emit(entry));
  }

  async #cells(): Promise<EvaluationCell[]> {
    const { spec, model, pairs } = this.#options;
    const answers = pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]);
    const values_N = await model.learner.values(answers.map(({ tokens_T }) => tokens_T));
    return heldOutCells(
      spec.stages[0]!.domain,
      [...values_N],
      answers.map(({ length }) => length),
      spec.seed,
    );
  }
}

/**
 * Of values [2P] and answers' lengths [2P], chosen before rejected in each pair. Throws Diverged where a value is no number. There is
 * no correlation where all answers score alike or are of one length.
 */
export function heldOutCells(
  domain: string,
  values_N: readonly number[],
  lengths_N: readonly number[],
  seed: number,
): EvaluationCell[] {
  const wrong = values_N.find((value) => !Number.isFinite(value));
  if (wrong !== undefined)
    throw new Diverged(`held-out pairs: the model's value is ${wrong}; lower the learning rate`);
  const margins_P = marginsOf(values_N);
  const suite = { name: 'held_out', domain };
  const cell = (measure: Measure): EvaluationCell => measuredCell(suite, 'non_thinking', measure, seed)!.cell;
  const accuracy = cell({ metric: 'accuracy', values: margins_P.map(isOrdered), most: 1 });
  const margin = cell({ metric: 'margin', values: margins_P, most: undefined });
  const r = correlation(values_N, lengths_N);
  if (r === undefined) return [accuracy, margin];
  const { values: _, ...place } = accuracy;
  const bounds = correlationInterval(r, margins_P.length);
  return [accuracy, margin, { ...place, metric: 'length_correlation', ...bounds }];
}

/**
 * Fisher's z: atanh(r) is about normal with variance 1 / (n - 3). n counts pairs: the two answers to one prompt are not
 * independent. Three pairs or fewer bound nothing.
 */
export function correlationInterval(r: number, n: number): { value: number; low: number; high: number } {
  if (n <= 3) return { value: r, low: -1, high: 1 };
  const half = normalQuantile(0.975) / Math.sqrt(n - 3);
  return { value: r, low: Math.tanh(Math.atanh(r) - half), high: Math.tanh(Math.atanh(r) + half) };
}
