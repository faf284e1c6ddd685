// The model in training: weighted sequences in, gradients accumulated, weights updated in place.
// loss = - sum over tokens of sg[w_t] * log pi(y_t): what a weight means is the cascade's business.
// Between `forwardBackward` calls gradients add up until `step` uses them.

import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import { namedViews } from '../models/parameters.ts';
import type { Arena, ParameterLayout } from '../models/parameters.ts';
import { embeddingName } from '../models/decoder-tensors.ts';
import { AdamW } from '../optimizer/adamw.ts';
import type { AdamWOptions, StepReport } from '../optimizer/adamw.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime } from '../ort/runtime.ts';
import { ChunkSessions } from './chunk-sessions.ts';
import type { ChunkShape } from './chunk-sessions.ts';
import { ChunkedTrunk } from './chunked-trunk.ts';
import { Head } from './head.ts';
import type { HeadResult, HeadRows } from './head.ts';
import { checkSequences } from './check-sequences.ts';
import { planMicroBatches } from './memory-plan.ts';
import type { Activations, LengthPlan, MemoryBudget } from './memory-plan.ts';
import { cutMicroBatches } from './micro-batches.ts';
import type { MicroBatch, WeightedSequence } from './micro-batches.ts';
import { ParameterStore } from './parameter-store.ts';
import { scoredRows } from './scored-rows.ts';
import { Scratch } from './scratch.ts';
import { sliceBatch } from './slices.ts';
import { defaultMemoryBytes, defaultTokenBudget } from './token-budget.ts';
import { TrunkSessions } from './trunk-sessions.ts';
import { BlockTrunk } from './trunk.ts';
import type { Trunk } from './trunk.ts';

/** Where a budget is not given it is the default of the model's shape and the machine's memory. */
export type LearnerOptions = { readonly [K in keyof MemoryBudget]?: MemoryBudget[K] | undefined };

export interface Scores {
  /** By sequence and token, 0 at the first token and before `scoredFrom`: log pi at the temperature. */
  readonly logProbs: readonly Float32Array[];
  /** Mean entropy in nats, at the temperature, over the scored tokens; 0 where there are none. */
  readonly meanEntropy: number;
  /** How the sequences were run, by padded length. */
  readonly plan: readonly LengthPlan[];
}

/** What resumes training exactly. The arrays are the live arenas: copy what must not change. */
export interface LearnerState {
  readonly weights: Arena;
  readonly firstMoment: Arena;
  readonly secondMoment: Arena;
  readonly stepCount: number;
}

export class Learner implements Disposable {
  readonly config: DecoderConfig;
  readonly #runtime: Runtime;
  readonly #store: ParameterStore;
  readonly #optimizer: AdamW;
  readonly #head: Head;
  readonly #scratch = new Scratch();
  readonly #trunks = new Map<string, Trunk>();
  readonly #sessions = new Map<string, TrunkSessions>();
  readonly #chunkSessions = new Map<string, ChunkSessions>();
  readonly #budget: MemoryBudget;
  readonly #scope: Scope;
  #hasGradients = false;

  private constructor(
    runtime: Runtime,
    config: DecoderConfig,
    store: ParameterStore,
    optimizer: AdamW,
    scope: Scope,
    options: LearnerOptions,
  ) {
    this.config = config;
    this.#runtime = runtime;
    this.#store = store;
    this.#optimizer = optimizer;
    this.#scope = scope;
    this.#head = scope.own(new Head(runtime, config, store));
    this.#budget = {
      ...options,
      tokenBudget: options.tokenBudget ?? defaultTokenBudget(config),
      memoryBytes: options.memoryBytes ?? defaultMemoryBytes(store.layout.parameterCount),
    };
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
      const store = scope.own(new ParameterStore(runtime, config, weights));
      const optimizer = scope.own(
        await AdamW.create(runtime, { ...store.arenas, decayedSize: store.layout.decayedSize }),
      );
      return new Learner(runtime, config, store, optimizer, scope, options);
    } catch (error) {
      scope[Symbol.dispose]();
      throw error;
    }
  }

  /** What micro-batches are cut for: another budget may cut them otherwise, and round otherwise. */
  get memoryBytes(): number {
    return this.#budget.memoryBytes;
  }

  get maxLength(): number {
    return this.config.maxPositions;
  }

  /** Layout and weights of the live arena: what a sampler of the newest policy reads. */
  get parameters(): { readonly layout: ParameterLayout; readonly weights: Arena } {
    return { layout: this.#store.layout, weights: this.#store.arenas.weights };
  }

  /** Scores the sequences and adds the gradient of their loss. How they are cut into micro-batches changes nothing but rounding. */
  async forwardBackward(
    sequences: readonly WeightedSequence[],
    { temperature }: { readonly temperature: number },
  ): Promise<Scores> {
    return await this.#overMicroBatches(sequences, temperature, true);
  }

  /** Scores only: no gradient is touched. */
  async score(
    sequences: readonly WeightedSequence[],
    { temperature }: { readonly temperature: number },
  ): Promise<Scores> {
    return await this.#overMicroBatches(sequences, temperature, false);
  }

  /** One AdamW update from the gradients so far, which are then spent. A norm that is not finite changes nothing. */
  async step(options: AdamWOptions): Promise<StepReport> {
    if (!this.#hasGradients) throw new Error('learner: step without gradients: call forwardBackward first');
    this.#hasGradients = false;
    return await this.#optimizer.step(options);
  }

  resetMoments(): void {
    this.#optimizer.resetMoments();
  }

  get state(): LearnerState {
    const { weights, firstMoment, secondMoment } = this.#store.arenas;
    return { weights, firstMoment, secondMoment, stepCount: this.#optimizer.stepCount };
  }

  /** Continues from a state of the same model, bit for bit. */
  restore({ stepCount, ...arenas }: LearnerState): void {
    for (const [name, values] of Object.entries(arenas)) {
      const arena = this.#store.arenas[name as keyof typeof arenas];
      if (values.length !== arena.length)
        throw new Error(
          `learner: the state's ${name} has ${values.length} elements, this model has ${arena.length}`,
        );
      arena.set(values);
    }
    this.#optimizer.stepCount = stepCount;
    this.#hasGradients = false;
  }

  /** Weights by HF name: live views. */
  namedWeights(): Weights {
    return namedViews(this.#store.layout, this.#store.arenas.weights);
  }

  /** Gradients so far by HF name: live views, for tests and reports. */
  namedGradients(): Weights {
    return namedViews(this.#store.layout, this.#store.arenas.gradients);
  }

  async #overMicroBatches(
    sequences: readonly WeightedSequence[],
    temperature: number,
    train: boolean,
  ): Promise<Scores> {
    if (!(temperature > 0))
      throw new RangeError(`learner: the temperature must be above 0, got ${temperature}`);
    checkSequences(sequences, this.config);
    const logProbs = sequences.map(({ tokens_T }) => new Float32Array(tokens_T.length));
    let entropy = 0;
    let scored = 0;
    const lengths = sequences.map(({ tokens_T }) => tokens_T.length);
    const plan = planMicroBatches(this.config, lengths, this.#budget);
    const planOf = new Map(plan.map((ofLength) => [ofLength.length, ofLength]));
    for (const microBatch of cutMicroBatches(sequences, (S) => planOf.get(S)!.rows)) {
      const trunk = this.#trunk(microBatch.B, planOf.get(microBatch.S)!);
      const { entropies_R } = await this.#microBatch(microBatch, trunk, temperature, train, logProbs);
      for (const value of entropies_R) entropy += value;
      scored += entropies_R.length;
    }
    if (train && !this.#hasGradients) this.#zeroGradients();
    return { logProbs, meanEntropy: scored === 0 ? 0 : entropy / scored, plan };
  }

  async #microBatch(
    microBatch: MicroBatch,
    trunk: Trunk,
    temperature: number,
    train: boolean,
    logProbs: readonly Float32Array[],
  ): Promise<Pick<HeadResult, 'entropies_R'>> {
    const { S, tokens_BS, rows } = microBatch;
    const scored = scoredRows(microBatch);
    if (scored.rows_R.length === 0) return { entropies_R: new Float32Array(0) };
    const learns = train && scored.weights_R.some((weight) => weight !== 0);
    const hidden = await trunk.forward(tokens_BS, learns);
    const result = learns
      ? await this.#backward(trunk, hidden, scored, temperature)
      : await this.#head.score(hidden, scored, temperature);
    scored.rows_R.forEach((row, r) => {
      logProbs[rows[Math.floor(row / S)]!]![(row % S) + 1] = result.logProbs_R[r]!;
    });
    return result;
  }

  async #backward(
    trunk: Trunk,
    hidden: Float32Array,
    scored: HeadRows,
    temperature: number,
  ): Promise<HeadResult> {
    const first = !this.#hasGradients;
    this.#hasGradients = true;
    // A tied embedding's gradient is begun by the head; else nobody but the embedding itself writes it.
    if (first && !this.config.tieWordEmbeddings) this.#store.gradientView(embeddingName).fill(0);
    const result = await this.#head.train(hidden, scored, temperature, trunk.outputCotangent, first);
    await trunk.backward(first);
    return result;
  }

  /** A batch in which no token has a weight has a gradient all the same: zero, which AdamW counts as a step. */
  #zeroGradients(): void {
    this.#store.arenas.gradients.fill(0);
    this.#hasGradients = true;
  }

  #trunk(batch: number, { length, activations, attentionChunk }: LengthPlan): Trunk {
    const key = `${batch}x${length} ${activations} ${attentionChunk}`;
    const known = this.#trunks.get(key);
    if (known !== undefined) return known;
    const trunk = this.#scope.own(
      attentionChunk === null
        ? this.#blockTrunk(batch, length, activations)
        : this.#chunkedTrunk(batch, { length, queries: attentionChunk }),
    );
    this.#trunks.set(key, trunk);
    return trunk;
  }

  #blockTrunk(batch: number, length: number, activations: Activations): Trunk {
    const slice = { batch: sliceBatch(this.config, batch, length), length };
    const key = `${slice.batch}x${length}`;
    const sessions =
      this.#sessions.get(key) ?? this.#scope.own(new TrunkSessions(this.#runtime, this.config, slice));
    this.#sessions.set(key, sessions);
    const shape = { batch, length, recompute: activations === 'recomputed' };
    return new BlockTrunk(this.#runtime, this.config, shape, sessions, this.#store, this.#scratch);
  }

  #chunkedTrunk(batch: number, shape: ChunkShape): Trunk {
    const key = `${shape.length} ${shape.queries}`;
    const sessions =
      this.#chunkSessions.get(key) ?? this.#scope.own(new ChunkSessions(this.#runtime, this.config, shape));
    this.#chunkSessions.set(key, sessions);
    return new ChunkedTrunk(this.#runtime, this.config, batch, sessions, this.#store, this.#scratch);
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
