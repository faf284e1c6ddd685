// Embedding and blocks of one batch shape: x_0 = embedding of the tokens, x_l+1 = block l of x_l, and back.
// Layer by layer, and within a layer slice by slice, so that a layer's weights are read while they are in the cache.
// One binding a pass, layer and slice, made when first run, points into scratch memory and the parameter arenas.

import type { ValueType } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import { blockInputRoles, gradientOf, previousOf, trainedRoles } from '../models/decoder-block.ts';
import { embeddingName } from '../models/decoder-tensors.ts';
import { Scope } from '../ort/scope.ts';
import type { Binding, Runtime, Tensor } from '../ort/runtime.ts';
import { activationDims, activations } from './activations.ts';
import type { Activations, Hidden } from './activations.ts';
import type { ParameterStore } from './parameter-store.ts';
import type { RowMoves } from './row-moves.ts';
import type { Scratch } from './scratch.ts';
import type { TrunkSessions } from './trunk-sessions.ts';
import type { TrunkPass } from './trunk-sessions.ts';

type Tensors = Record<string, Tensor>;

interface Ends {
  readonly inputs: Tensors;
  readonly outputs: Tensors;
}

/** What all trunks of a model share. */
export interface Workspace {
  readonly scratch: Scratch;
  readonly moves: RowMoves;
}

export interface TrunkShape {
  /** Sequences of the whole micro-batch; a multiple of the sessions' own. */
  readonly batch: number;
  readonly length: number;
  /** Blocks recompute in their backward, from their inputs. */
  readonly recompute: boolean;
}

/** What the learner needs of embedding and blocks of one micro-batch shape, however they are computed. */
export interface Trunk extends Disposable {
  /** Hidden states before the final norm, [T,D], of tokens [B,S]. `keep`: `backward` may follow. */
  forward(tokens_BS: Int32Array, keep: boolean): Promise<Tensor>;
  /** Where the gradient of the last hidden states, [T,D], must be put before `backward`. */
  readonly outputCotangent: Tensor;
  /** Adds to the gradients that are trained, of the embedding and of the blocks; with `first` the blocks' are overwritten. */
  backward(first: boolean): Promise<void>;
}

export class BlockTrunk implements Trunk {
  readonly #runtime: Runtime;
  readonly #config: DecoderConfig;
  readonly #store: ParameterStore;
  readonly #scratch: Scratch;
  readonly #moves: RowMoves;
  readonly #sessions: TrunkSessions;
  readonly #slices: number;
  readonly #recompute: boolean;
  readonly #tokens: Int32Array;
  readonly #scope = new Scope();
  readonly #tokenSlices: readonly Tensor[];
  #bindings = new Map<string, Binding>();
  #bound: Scope | undefined;
  #activations: Activations | undefined;

  /** The sessions are the caller's: trunks of one slice shape share them. */
  constructor(
    runtime: Runtime,
    config: DecoderConfig,
    { batch, length, recompute }: TrunkShape,
    sessions: TrunkSessions,
    store: ParameterStore,
    { scratch, moves }: Workspace,
  ) {
    this.#runtime = runtime;
    this.#config = config;
    this.#store = store;
    this.#scratch = scratch;
    this.#moves = moves;
    this.#sessions = sessions;
    this.#recompute = recompute;
    this.#slices = (batch * length) / sessions.rows;
    this.#tokens = new Int32Array(batch * length);
    this.#tokenSlices = Array.from({ length: this.#slices }, (_, slice) =>
      this.#scope.own(
        runtime.tensor(
          'int32',
          [sessions.rows],
          this.#tokens.subarray(slice * sessions.rows, (slice + 1) * sessions.rows),
        ),
      ),
    );
  }

  async forward(tokens_BS: Int32Array, keep: boolean): Promise<Tensor> {
    this.#tokens.set(tokens_BS);
    await this.#run('embed', 0);
    for (let layer = 0; layer < this.#config.layers; layer++)
      await this.#run(keep && !this.#recompute ? 'forward' : 'score', layer);
    return this.#current().hidden.at(-1)!.all;
  }

  get outputCotangent(): Tensor {
    return this.#cotangent(this.#config.layers).all;
  }

  async backward(first: boolean): Promise<void> {
    const [begin, add] = this.#recompute
      ? (['recompute', 'recomputeAccumulate'] as const)
      : (['backward', 'accumulate'] as const);
    for (let layer = this.#config.layers - 1; layer >= 0; layer--)
      await this.#run(add, layer, first ? begin : add);
    if (this.#store.trains(embeddingName))
      await this.#moves.add(this.#cotangent(0).all, this.#tokens, this.#store.gradient(embeddingName));
  }

  /** One pass over all slices of a layer; the first slice may differ, since gradients begin with it. */
  async #run(pass: TrunkPass, layer: number, firstPass = pass): Promise<void> {
    this.#current();
    for (let slice = 0; slice < this.#slices; slice++)
      await (await this.#binding(slice === 0 ? firstPass : pass, layer, slice)).run();
  }

  async #binding(pass: TrunkPass, layer: number, slice: number): Promise<Binding> {
    const key = `${pass} ${layer} ${slice}`;
    const known = this.#bindings.get(key);
    if (known !== undefined) return known;
    const session = await this.#sessions.session(pass);
    const { inputs, outputs } = this.#ends(pass, layer, slice);
    // A partition drops the inputs that its side does not use.
    const used = Object.fromEntries(session.inputNames.map((name) => [name, inputs[name]!]));
    const binding = this.#bound!.own(session.bind(used, outputs));
    this.#bindings.set(key, binding);
    return binding;
  }

  #ends(pass: TrunkPass, layer: number, slice: number): Ends {
    const { hidden, kept } = this.#current();
    if (pass === 'embed') {
      const inputs = { table: this.#store.weight(embeddingName), tokens: this.#tokenSlices[slice]! };
      return { inputs, outputs: { y: hidden[0]!.slices[slice]! } };
    }
    const weights = Object.fromEntries(
      blockInputRoles(this.#config, this.#store.form).map((role) => [
        role,
        this.#store.blockWeight(layer, role),
      ]),
    );
    const x = { x: hidden[layer]!.slices[slice]!, ...weights };
    const y = { y: hidden[layer + 1]!.slices[slice]! };
    if (pass === 'score') return { inputs: x, outputs: y };
    if (pass === 'forward') return { inputs: x, outputs: { ...y, ...kept[layer]![slice] } };
    const d_y = this.#cotangent(layer + 1).slices[slice]!;
    return {
      inputs: { ...x, ...kept[layer]![slice], d_y, ...this.#gradients(layer, previousOf) },
      outputs: { d_x: this.#cotangent(layer).slices[slice]!, ...this.#gradients(layer, gradientOf) },
    };
  }

  #gradients(layer: number, named: (role: string) => string): Tensors {
    return Object.fromEntries(
      trainedRoles(this.#config, this.#store.form).map((role) => [
        named(role),
        this.#store.blockGradient(layer, role),
      ]),
    );
  }

  #cotangent(layer: number): Hidden {
    return this.#current().cotangents[layer % 2]!;
  }

  /** The shape's buffers: new ones, and no bindings, after the scratch memory has been others'. */
  #current(): Activations {
    if (this.#activations !== undefined) return this.#activations;
    const { layers, hiddenSize: width } = this.#config;
    const shape = {
      layers,
      slices: this.#slices,
      rows: this.#sessions.rows,
      width,
      kept: this.#recompute ? new Map<string, ValueType>() : this.#sessions.kept,
    };
    const tensors = this.#scratch.take(activationDims(shape), () => this.#release());
    this.#bound = new Scope();
    this.#activations = activations(this.#runtime, this.#bound, shape, tensors);
    return this.#activations;
  }

  #release(): void {
    this.#bindings = new Map();
    this.#bound?.[Symbol.dispose]();
    this.#bound = undefined;
    this.#activations = undefined;
  }

  [Symbol.dispose](): void {
    this.#release();
    this.#scope[Symbol.dispose]();
  }
}
