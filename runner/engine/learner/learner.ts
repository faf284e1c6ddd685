// The model in training: weighted sequences in, gradients accumulated, weights updated in place.
// loss = - sum over tokens of sg[w_t] * log pi(y_t): what a weight means is the cascade's business.
// Between `forwardBackward` calls gradients add up until `step` uses them.

import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import { namedViews } from '../models/parameters.ts';
import type { Arena } from '../models/parameters.ts';
import type { ModelForm } from '../models/model-form.ts';
import type { LoraConfig } from '../models/lora.ts';
import type { HalfOperands } from '../ops/half-operands.ts';
import { AdamW } from '../optimizer/adamw.ts';
import type { AdamWOptions, StepReport } from '../optimizer/adamw.ts';
import { LossScale } from '../optimizer/loss-scale.ts';
import type { LossScaleState } from '../optimizer/loss-scale.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime } from '../ort/runtime.ts';
import { divergences } from './divergences.ts';
import type { DivergenceOptions, Divergences } from './divergences.ts';
import { frozen } from './frozen.ts';
import type { Frozen } from './frozen.ts';
import { headOf } from './head-definition.ts';
import type { WeightedSequence } from './micro-batches.ts';
import type { ParameterSet } from './parameter-set.ts';
import { ParameterStore } from './parameter-store.ts';
import { Passes } from './passes.ts';
import type { PassOptions } from './passes.ts';
import type { Scorer } from './scorer.ts';
import { sequenceValues } from './sequence-values.ts';
import type { SequenceValues } from './sequence-values.ts';
import { tokenScores } from './token-scores.ts';
import type { Scores, Weigh } from './token-scores.ts';

/** Adapters to train beside frozen weights, with their first values by PEFT's names. */
export interface LoraTuning {
  readonly lora: LoraConfig;
  readonly adapters: Weights;
}

export interface LearnerOptions extends PassOptions {
  /** Undefined: every weight is trained. */
  readonly tuning?: LoraTuning | undefined;
  /** What products with weights round their operands to; undefined: float32. With float16 the loss is scaled. */
  readonly operands?: HalfOperands | undefined;
}

export interface LearnerStepReport extends StepReport {
  /** Where the loss is scaled: this step's scale was too large, nothing was changed but the scale. */
  readonly overflowed?: boolean;
}

/** What resumes training exactly. On the cpu the arrays are the live arenas: copy what must not change. */
export interface LearnerState {
  /** Those that are trained. */
  readonly weights: Arena;
  readonly firstMoment: Arena;
  readonly secondMoment: Arena;
  readonly stepCount: number;
  /** Where the loss is scaled. */
  readonly lossScale?: LossScaleState | undefined;
}

export class Learner implements Disposable {
  readonly config: DecoderConfig;
  readonly #runtime: Runtime;
  readonly #store: ParameterStore;
  readonly #optimizer: AdamW;
  readonly #passes: Passes;
  readonly #scope: Scope;
  #lossScale: LossScale | undefined;

  private constructor(
    runtime: Runtime,
    config: DecoderConfig,
    store: ParameterStore,
    optimizer: AdamW,
    passes: Passes,
    scope: Scope,
  ) {
    this.#runtime = runtime;
    this.config = config;
    this.#store = store;
    this.#optimizer = optimizer;
    this.#passes = passes;
    this.#scope = scope;
    if (store.form.operands?.type === 'float16') this.#lossScale = new LossScale();
  }

  /** Copies `weights` (HF names). Throws where they do not fit the configuration, with the tensors' names. */
  static async create(
    runtime: Runtime,
    config: DecoderConfig,
    weights: Weights,
    { tuning, operands, ...options }: LearnerOptions = {},
  ): Promise<Learner> {
    if (tuning !== undefined && config.scalarHead)
      throw new Error('learner: a scalar head is trained with the whole model, not beside adapters');
    const form = { lora: tuning?.lora, operands };
    const scope = new Scope();
    try {
      const store = scope.own(
        await ParameterStore.create(runtime, config, weights, { form, adapters: tuning?.adapters }),
      );
      const optimizer = scope.own(await AdamW.create(runtime, store.optimized()));
      const passes = scope.own(new Passes(runtime, config, store, headOf(config, form), options));
      return new Learner(runtime, config, store, optimizer, passes, scope);
    } catch (error) {
      scope[Symbol.dispose]();
      throw error;
    }
  }

  /** What micro-batches are cut for: another budget may cut them otherwise, and round otherwise. */
  get memoryBytes(): number {
    return this.#passes.budget.memoryBytes;
  }

  get maxLength(): number {
    return this.config.maxPositions;
  }

  /** The live weights, the adapters beside them where there are any, and how graphs use them: what a sampler of the newest policy reads. */
  get weights(): ParameterSet {
    return this.#store.weights;
  }

  get adapters(): ParameterSet | undefined {
    return this.#store.adapters;
  }

  get form(): ModelForm {
    return this.#store.form;
  }

  /**
   * Scores the sequences and adds the gradient of their loss. How they are cut into micro-batches changes nothing but rounding.
   * With `weigh`, where weights depend on the log-probabilities of this very forward, the sequences' own are not looked at
   * (prompts must have none); that saves a scoring pass before, at the price of the head's alone.
   */
  async forwardBackward(
    sequences: readonly WeightedSequence[],
    { temperature, weigh }: { readonly temperature: number; readonly weigh?: Weigh | undefined },
  ): Promise<Scores> {
    const scale = this.#lossScale?.scale ?? 1;
    const scaledWeigh: Weigh | undefined = weigh && ((i, t, logProb) => scale * weigh(i, t, logProb));
    return await tokenScores(this.#passes, this.#scaledAll(sequences), {
      temperature,
      train: true,
      weigh: scaledWeigh,
    });
  }

  /**
   * Adds the gradient of the sum of weights * divergence, both distributions whole, of every token from its teacher, who runs
   * over the same sequences and is left as it is. Throws where the vocabularies differ.
   */
  async diverge(
    sequences: readonly WeightedSequence[],
    teacher: Scorer,
    options: DivergenceOptions,
  ): Promise<Divergences> {
    return await divergences(this.#passes, this.#scaledAll(sequences), teacher, options, true);
  }

  /** The same scores only: no gradient is touched. */
  async divergences(
    sequences: readonly WeightedSequence[],
    teacher: Scorer,
    options: DivergenceOptions,
  ): Promise<Divergences> {
    return await divergences(this.#passes, sequences, teacher, options, false);
  }

  /** Scores only: no gradient is touched. */
  async score(
    sequences: readonly WeightedSequence[],
    { temperature }: { readonly temperature: number },
  ): Promise<Scores> {
    return await tokenScores(this.#passes, sequences, { temperature });
  }

  /** Values [N] at the last tokens of N sequences, of a model with a scalar head. No gradient is touched. */
  async values(sequences: readonly Int32Array[]): Promise<Float32Array> {
    return (await sequenceValues(this.#passes, sequences)).values_N;
  }

  /**
   * The same, and adds the gradient of a loss whose derivatives by the values are `cotangents` [N]. Where these depend on
   * the values, `values` gives them first.
   */
  async valuesBackward(sequences: readonly Int32Array[], cotangents: Float32Array): Promise<SequenceValues> {
    return await sequenceValues(this.#passes, sequences, this.#scaled(cotangents));
  }

  #scaledAll(sequences: readonly WeightedSequence[]): readonly WeightedSequence[] {
    return sequences.map((sequence) => ({ ...sequence, weights_T: this.#scaled(sequence.weights_T) }));
  }

  /** Derivatives of the loss, times the loss scale. */
  #scaled(derivatives: Float32Array): Float32Array {
    const scale = this.#lossScale?.scale;
    return scale === undefined ? derivatives : derivatives.map((derivative) => derivative * scale);
  }

  /** One AdamW update from the gradients so far, which are then spent. A norm that is not finite changes nothing. */
  async step(options: AdamWOptions): Promise<LearnerStepReport> {
    if (!this.#passes.hasGradients)
      throw new Error('learner: step without gradients: call forwardBackward first');
    this.#passes.hasGradients = false;
    const report = await this.#optimizer.step({ ...options, lossScale: this.#lossScale?.scale });
    if (this.#lossScale === undefined) return report;
    return { ...report, overflowed: this.#lossScale.observe(report.gradNorm) === 'skip' };
  }

  /** The gradients so far are nothing to learn from: the next that come begin anew. */
  dropGradients(): void {
    this.#passes.hasGradients = false;
  }

  async resetMoments(): Promise<void> {
    await this.#optimizer.resetMoments();
  }

  async state(): Promise<LearnerState> {
    return {
      weights: await this.#store.trainedWeights.read(),
      firstMoment: await this.#store.trained('firstMoment').read(),
      secondMoment: await this.#store.trained('secondMoment').read(),
      stepCount: this.#optimizer.stepCount,
      ...(this.#lossScale && { lossScale: this.#lossScale.state }),
    };
  }

  /** Continues from a state of the same model, bit for bit. Without weights those that are there stay. */
  async restore({
    weights,
    firstMoment,
    secondMoment,
    stepCount,
    lossScale,
  }: Omit<LearnerState, 'weights'> & Partial<LearnerState>): Promise<void> {
    const sets = [
      ['weights', weights, this.#store.trainedWeights],
      ['firstMoment', firstMoment, this.#store.trained('firstMoment')],
      ['secondMoment', secondMoment, this.#store.trained('secondMoment')],
    ] as const;
    for (const [name, values, set] of sets)
      if (values !== undefined && values.length !== set.layout.size)
        throw new Error(
          `learner: the state's ${name} has ${values.length} elements, this model has ${set.layout.size}`,
        );
    for (const [, values, set] of sets) if (values !== undefined) await set.write(values);
    this.#optimizer.stepCount = stepCount;
    if (this.#lossScale !== undefined) this.#lossScale = new LossScale(lossScale);
    this.#passes.hasGradients = false;
  }

  /** The model's own weights by HF name, without adapters: on the cpu live views. */
  async namedWeights(): Promise<Weights> {
    const { weights } = this.#store;
    return namedViews(weights.layout, await weights.read());
  }

  /** Adapters by PEFT's name, where they are what is trained: on the cpu live views. */
  async namedAdapters(): Promise<Weights | undefined> {
    const { adapters } = this.#store;
    return adapters && namedViews(adapters.layout, await adapters.read());
  }

  /**
   * The model as it stands or, given what is trained as it stood then (weights or adapters by name), as it stood: it scores
   * with this learner's precision and within its budgets, so that what has not changed scores the same.
   */
  async freeze(trained?: Weights): Promise<Frozen> {
    const { form } = this.#store;
    const model = {
      config: this.config,
      form,
      weights: form.lora === undefined ? (trained ?? (await this.namedWeights())) : await this.namedWeights(),
      adapters: form.lora && (trained ?? (await this.namedAdapters())),
    };
    return await frozen(this.#runtime, model, this.#passes.budget);
  }

  /** Gradients so far by name of what is trained, for tests and reports: on the cpu live views. */
  async namedGradients(): Promise<Weights> {
    return namedViews(this.#store.layout, await this.#store.trained('gradients').read());
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
