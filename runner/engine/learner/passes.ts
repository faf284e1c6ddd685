// Passes of one model over sequences, whoever its weights belong to: sequences are cut into micro-batches, these run
// through embedding and blocks and then through a head. A learner adds gradients on the way back, a scorer only scores.

import type { DecoderConfig } from '../models/config.ts';
import { embeddingName } from '../models/decoder-tensors.ts';
import type { ModelForm } from '../models/model-form.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { ChunkSessions } from './chunk-sessions.ts';
import type { ChunkShape } from './chunk-sessions.ts';
import { ChunkedTrunk } from './chunked-trunk.ts';
import { checkSequences } from './check-sequences.ts';
import { Head } from './head.ts';
import type { HeadResult, HeadRows, HeadScalars } from './head.ts';
import type { HeadDefinition } from './head-definition.ts';
import { planMicroBatches } from './memory-plan.ts';
import type { Activations, LengthPlan, MemoryBudget } from './memory-plan.ts';
import { cutMicroBatches } from './micro-batches.ts';
import type { MicroBatch, WeightedSequence } from './micro-batches.ts';
import type { ParameterStore } from './parameter-store.ts';
import { PickedRows } from './picked-rows.ts';
import { createRowMoves } from './row-moves.ts';
import { scoredCounts, scoredRows } from './scored-rows.ts';
import { createScratch } from './scratch.ts';
import { sliceBatch } from './slices.ts';
import { defaultMemoryBytes, defaultTokenBudget } from './token-budget.ts';
import { TrunkSessions } from './trunk-sessions.ts';
import { BlockTrunk } from './trunk.ts';
import type { Trunk, Workspace } from './trunk.ts';

/** Where a budget is not given it is the default of the model's shape and the machine's memory. */
export type PassOptions = { readonly [K in keyof MemoryBudget]?: MemoryBudget[K] | undefined };

export interface HeadCall {
  /** Default: the model's own. */
  readonly head?: Head | undefined;
  readonly scalars: HeadScalars;
  /** Rows of a micro-batch that the head looks at. */
  readonly rowsOf: (microBatch: MicroBatch) => HeadRows | Promise<HeadRows>;
  /**
   * In training, where what goes in for the gradient depends on what comes out: the same rows with it. The head then looks at
   * the rows twice, embedding and blocks run once.
   */
  readonly weigh?: ((microBatch: MicroBatch, rows: HeadRows, result: HeadResult) => HeadRows) | undefined;
  /** Told of every micro-batch what came out for its rows. */
  readonly take: (microBatch: MicroBatch, rows: HeadRows, result: HeadResult) => void;
}

interface Backward {
  readonly head: Head;
  readonly trunk: Trunk;
  readonly scalars: HeadScalars;
}

const haveWeight = ({ definition }: Head, { inputs }: HeadRows): boolean =>
  Object.keys(definition.trainingInputs).some((name) => inputs[name]!.some((value) => value !== 0));

export class Passes implements Disposable {
  /** Gradients are there to be added to; without them the first that come overwrite what is left of earlier ones. */
  hasGradients = false;
  readonly budget: MemoryBudget;
  readonly config: DecoderConfig;
  readonly #runtime: Runtime;
  readonly #store: ParameterStore;
  readonly #head: Head;
  readonly #workspace: Workspace;
  readonly #trunks = new Map<string, Trunk>();
  readonly #sessions = new Map<string, TrunkSessions>();
  readonly #chunkSessions = new Map<string, ChunkSessions>();
  readonly #heads = new Map<string, Head>();
  #picked: PickedRows | undefined;
  readonly #scope = new Scope();

  constructor(
    runtime: Runtime,
    config: DecoderConfig,
    store: ParameterStore,
    head: HeadDefinition,
    options: PassOptions,
  ) {
    this.#runtime = runtime;
    this.config = config;
    this.#store = store;
    this.#workspace = {
      scratch: this.#scope.own(createScratch(runtime)),
      moves: this.#scope.own(createRowMoves(runtime)),
    };
    this.#head = this.#ownHead(head);
    this.budget = {
      ...options,
      tokenBudget: options.tokenBudget ?? defaultTokenBudget(config),
      memoryBytes: options.memoryBytes ?? defaultMemoryBytes(store.layout.parameterCount),
      sliced: runtime.provider === 'cpu',
    };
  }

  get form(): ModelForm {
    return this.#store.form;
  }

  /** Throws where the model's head is another than the caller's business needs. */
  expectHead(name: HeadDefinition['name'], wanted: string): void {
    const has = this.#head.definition.name;
    if (has !== name) throw new Error(`this model has a ${has}: it gives no ${wanted}`);
  }

  /** Runs the head over all sequences and, with `train`, adds the gradient of its loss. Gives how they were run. */
  async run(
    sequences: readonly WeightedSequence[],
    call: HeadCall,
    train: boolean,
  ): Promise<readonly LengthPlan[]> {
    const plan = await this.#each(sequences, (microBatch, trunk) =>
      this.#microBatch(microBatch, trunk, call, train),
    );
    if (train && !this.hasGradients) await this.#zeroGradients();
    return plan;
  }

  /**
   * Hidden states before the final norm, on the host: by sequence, [n,D] of the n scored tokens' predecessors. What a head other
   * than this model's makes words of.
   */
  async finalRows(sequences: readonly WeightedSequence[]): Promise<readonly Float32Array[]> {
    const { hiddenSize: D } = this.config;
    const rows_ND = sequences.map(() => new Float32Array(0));
    this.#picked ??= this.#scope.own(new PickedRows(this.#runtime, D, this.#workspace.moves));
    const picked = this.#picked;
    await this.#each(sequences, async (microBatch, trunk) => {
      const { rows_R } = scoredRows(microBatch);
      if (rows_R.length === 0) return;
      const all = await picked.read(await trunk.forward(microBatch.tokens_BS, false), rows_R);
      let begin = 0;
      scoredCounts(microBatch).forEach((count, b) => {
        rows_ND[microBatch.rows[b]!] = all.slice(begin * D, (begin + count) * D);
        begin += count;
      });
    });
    return rows_ND;
  }

  /** Another head of this model, which lives as long as it does; the same for the same `key`. */
  head(key: string, define: () => HeadDefinition): Head {
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const head = this.#ownHead(define());
    this.#heads.set(key, head);
    return head;
  }

  #ownHead(definition: HeadDefinition): Head {
    const { hiddenSize } = this.config;
    return this.#scope.own(
      new Head(this.#runtime, definition, hiddenSize, this.#store, this.#workspace.moves),
    );
  }

  /** Cuts the sequences into micro-batches and visits each with the trunk of its shape. */
  async #each(
    sequences: readonly WeightedSequence[],
    visit: (microBatch: MicroBatch, trunk: Trunk) => Promise<void>,
  ): Promise<readonly LengthPlan[]> {
    checkSequences(sequences, this.config);
    const lengths = sequences.map(({ tokens_T }) => tokens_T.length);
    const plan = planMicroBatches(this.config, lengths, this.budget);
    const planOf = new Map(plan.map((ofLength) => [ofLength.length, ofLength]));
    for (const microBatch of cutMicroBatches(sequences, (S) => planOf.get(S)!.rows)) {
      await visit(microBatch, this.#trunk(microBatch.B, planOf.get(microBatch.S)!));
    }
    return plan;
  }

  async #microBatch(
    microBatch: MicroBatch,
    trunk: Trunk,
    { head = this.#head, rowsOf, scalars, weigh, take }: HeadCall,
    train: boolean,
  ): Promise<void> {
    const rows = await rowsOf(microBatch);
    if (rows.rows_R.length === 0) return;
    const call = { head, trunk, scalars };
    if (train && weigh !== undefined) {
      const hidden = await trunk.forward(microBatch.tokens_BS, true);
      const result = await head.score(hidden, rows, scalars);
      const weighed = weigh(microBatch, rows, result);
      if (haveWeight(head, weighed)) await this.#backward(call, hidden, weighed);
      take(microBatch, weighed, result);
      return;
    }
    const learns = train && haveWeight(head, rows);
    const hidden = await trunk.forward(microBatch.tokens_BS, learns);
    const result = learns
      ? await this.#backward(call, hidden, rows)
      : await head.score(hidden, rows, scalars);
    take(microBatch, rows, result);
  }

  async #backward({ head, trunk, scalars }: Backward, hidden: Tensor, rows: HeadRows): Promise<HeadResult> {
    const first = !this.hasGradients;
    this.hasGradients = true;
    // A tied embedding's gradient is begun by the head; else nobody but the embedding itself writes it.
    const isTied = Object.values(head.definition.parameters).includes(embeddingName);
    if (first && !isTied && this.#store.trains(embeddingName))
      await this.#store.gradient(embeddingName).zero();
    const result = await head.train(hidden, rows, scalars, trunk.outputCotangent, first);
    await trunk.backward(first);
    return result;
  }

  /** A batch in which no token has a weight has a gradient all the same: zero, which AdamW counts as a step. */
  async #zeroGradients(): Promise<void> {
    await this.#store.trained('gradients').zero();
    this.hasGradients = true;
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
    const slice = {
      batch: this.budget.sliced === false ? batch : sliceBatch(this.config, batch, length),
      length,
    };
    const key = `${slice.batch}x${length}`;
    const sessions =
      this.#sessions.get(key) ??
      this.#scope.own(new TrunkSessions(this.#runtime, this.config, slice, this.#store.form));
    this.#sessions.set(key, sessions);
    // A frozen model has no backward for which anything is to be kept.
    const recompute = activations === 'recomputed' || this.#store.isFrozen;
    const shape = { batch, length, recompute };
    return new BlockTrunk(this.#runtime, this.config, shape, sessions, this.#store, this.#workspace);
  }

  #chunkedTrunk(batch: number, shape: ChunkShape): Trunk {
    const key = `${shape.length} ${shape.queries}`;
    const sessions =
      this.#chunkSessions.get(key) ??
      this.#scope.own(new ChunkSessions(this.#runtime, this.config, shape, this.#store.form));
    this.#chunkSessions.set(key, sessions);
    return new ChunkedTrunk(this.#runtime, this.config, batch, sessions, this.#store, this.#workspace);
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
