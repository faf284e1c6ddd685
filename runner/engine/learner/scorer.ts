// A frozen model that scores given tokens: a reference, a teacher, a reward model. 4 bytes a parameter: it has no gradients
// and no moments.

import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import type { HalfOperands } from '../ops/half-operands.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime } from '../ort/runtime.ts';
import { headOf } from './head-definition.ts';
import type { WeightedSequence } from './micro-batches.ts';
import type { ParameterSet } from './parameter-set.ts';
import { ParameterStore } from './parameter-store.ts';
import { Passes } from './passes.ts';
import type { PassOptions } from './passes.ts';
import { sequenceValues } from './sequence-values.ts';
import { tokenScores } from './token-scores.ts';
import type { Scores } from './token-scores.ts';

export interface ScorerOptions extends PassOptions {
  /** As a learner's: what products with weights round their operands to. */
  readonly operands?: HalfOperands | undefined;
}

export class Scorer implements Disposable {
  readonly config: DecoderConfig;
  readonly #store: ParameterStore;
  readonly #passes: Passes;
  readonly #scope: Scope;

  private constructor(config: DecoderConfig, store: ParameterStore, passes: Passes, scope: Scope) {
    this.config = config;
    this.#store = store;
    this.#passes = passes;
    this.#scope = scope;
  }

  /** Copies `weights` (HF names). Throws where they do not fit the configuration, with the tensors' names. */
  static async create(
    runtime: Runtime,
    config: DecoderConfig,
    weights: Weights,
    { operands, ...options }: ScorerOptions = {},
  ): Promise<Scorer> {
    const scope = new Scope();
    try {
      const form = { operands };
      const store = scope.own(await ParameterStore.create(runtime, config, weights, { frozen: true, form }));
      const passes = scope.own(new Passes(runtime, config, store, headOf(config, form), options));
      return new Scorer(config, store, passes, scope);
    } catch (error) {
      scope[Symbol.dispose]();
      throw error;
    }
  }

  /** What a sampler of this model reads. */
  get weights(): ParameterSet {
    return this.#store.weights;
  }

  /** Log-probabilities of the tokens from `scoredFrom` on. Weights are not looked at, except that prompts must have none. */
  async score(
    sequences: readonly WeightedSequence[],
    { temperature }: { readonly temperature: number },
  ): Promise<Scores> {
    return await tokenScores(this.#passes, sequences, { temperature });
  }

  /** As `operands` of its options. */
  get operands(): HalfOperands | undefined {
    return this.#store.form.operands;
  }

  /** Throws where the model gives no log-probabilities. */
  expectLanguageHead(): void {
    this.#passes.expectHead('language head', 'distributions');
  }

  /**
   * By sequence, hidden states before the final norm from which the tokens from `scoredFrom` on are predicted, [n,D] for n of
   * them: with `weights` they make the whole distributions.
   */
  async finalRows(sequences: readonly WeightedSequence[]): Promise<readonly Float32Array[]> {
    return await this.#passes.finalRows(sequences);
  }

  /** Values [N] at the last tokens of N sequences, of a model with a scalar head. */
  async values(sequences: readonly Int32Array[]): Promise<Float32Array> {
    return (await sequenceValues(this.#passes, sequences)).values_N;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
