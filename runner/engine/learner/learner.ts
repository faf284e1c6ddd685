// The model in training: weighted sequences in, gradients accumulated, weights updated in place.
// loss = - sum over tokens of sg[w_t] * log pi(y_t): what a weight means is the cascade's business.
// Between `forwardBackward` calls gradients add up until `step` uses them.

import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import { namedViews } from '../models/parameters.ts';
import type { Arena } from '../models/parameters.ts';
import { AdamW } from '../optimizer/adamw.ts';
import type { AdamWOptions, StepReport } from '../optimizer/adamw.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime } from '../ort/runtime.ts';
import { languageHead } from './head-definition.ts';
import type { WeightedSequence } from './micro-batches.ts';
import type { ParameterSet } from './parameter-set.ts';
import { ParameterStore } from './parameter-store.ts';
import { Passes } from './passes.ts';
import type { PassOptions } from './passes.ts';
import { tokenScores } from './token-scores.ts';
import type { Scores } from './token-scores.ts';

export type LearnerOptions = PassOptions;

/** What resumes training exactly. On the cpu the arrays are the live arenas: copy what must not change. */
export interface LearnerState {
  readonly weights: Arena;
  readonly firstMoment: Arena;
  readonly secondMoment: Arena;
  readonly stepCount: number;
}

export class Learner implements Disposable {
  readonly config: DecoderConfig;
  readonly #store: ParameterStore;
  readonly #optimizer: AdamW;
  readonly #passes: Passes;
  readonly #scope: Scope;

  private constructor(
    config: DecoderConfig,
    store: ParameterStore,
    optimizer: AdamW,
    passes: Passes,
    scope: Scope,
  ) {
    this.config = config;
    this.#store = store;
    this.#optimizer = optimizer;
    this.#passes = passes;
    this.#scope = scope;
  }

  /** Copies `weights` (HF names). Throws where they do not fit the configuration, with the tensors' names. */
  static async create(
    runtime: Runtime,
    config: DecoderConfig,
    weights: Weights,
    options: LearnerOptions = {},
  ): Promise<Learner> {
    const scope = new Scope();
    try {
      const store = scope.own(await ParameterStore.create(runtime, config, weights));
      const optimizer = scope.own(await AdamW.create(runtime, store.optimized()));
      const passes = scope.own(new Passes(runtime, config, store, languageHead(config), options));
      return new Learner(config, store, optimizer, passes, scope);
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

  /** The live weights: what a sampler of the newest policy reads. */
  get weights(): ParameterSet {
    return this.#store.weights;
  }

  /** Scores the sequences and adds the gradient of their loss. How they are cut into micro-batches changes nothing but rounding. */
  async forwardBackward(
    sequences: readonly WeightedSequence[],
    { temperature }: { readonly temperature: number },
  ): Promise<Scores> {
    return await tokenScores(this.#passes, sequences, temperature, true);
  }

  /** Scores only: no gradient is touched. */
  async score(
    sequences: readonly WeightedSequence[],
    { temperature }: { readonly temperature: number },
  ): Promise<Scores> {
    return await tokenScores(this.#passes, sequences, temperature, false);
  }

  /** One AdamW update from the gradients so far, which are then spent. A norm that is not finite changes nothing. */
  async step(options: AdamWOptions): Promise<StepReport> {
    if (!this.#passes.hasGradients)
      throw new Error('learner: step without gradients: call forwardBackward first');
    this.#passes.hasGradients = false;
    return await this.#optimizer.step(options);
  }

  async resetMoments(): Promise<void> {
    await this.#optimizer.resetMoments();
  }

  async state(): Promise<LearnerState> {
    return {
      weights: await this.#store.weights.read(),
      firstMoment: await this.#store.trained('firstMoment').read(),
      secondMoment: await this.#store.trained('secondMoment').read(),
      stepCount: this.#optimizer.stepCount,
    };
  }

  /** Continues from a state of the same model, bit for bit. Without weights those that are there stay. */
  async restore({
    weights,
    firstMoment,
    secondMoment,
    stepCount,
  }: Omit<LearnerState, 'weights'> & Partial<LearnerState>): Promise<void> {
    const sets = [
      ['weights', weights, this.#store.weights],
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
    this.#passes.hasGradients = false;
  }

  /** Weights by HF name: on the cpu live views. */
  async namedWeights(): Promise<Weights> {
    return namedViews(this.#store.layout, await this.#store.weights.read());
  }

  /** Gradients so far by HF name, for tests and reports: on the cpu live views. */
  async namedGradients(): Promise<Weights> {
    return namedViews(this.#store.layout, await this.#store.trained('gradients').read());
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
