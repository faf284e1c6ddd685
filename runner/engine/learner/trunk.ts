// Embedding and blocks of one batch shape: x_0 = embedding of the tokens, x_l+1 = block l of x_l, and back.
// One binding a pass and layer, made when first run, points into scratch memory and the parameter arenas.

import type { LlamaConfig } from '../models/config.ts';
import { gradientOf, previousOf } from '../models/llama-block.ts';
import type { BatchShape } from '../models/llama-block.ts';
import { blockRoles, embeddingName } from '../models/llama-tensors.ts';
import { Scope } from '../ort/scope.ts';
import type { Binding, Runtime, Tensor } from '../ort/runtime.ts';
import { Activations } from './activations.ts';
import type { ParameterStore } from './parameter-store.ts';
import type { Scratch } from './scratch.ts';
import { TrunkSessions } from './trunk-sessions.ts';
import type { TrunkPass } from './trunk-sessions.ts';

type Tensors = Record<string, Tensor>;

interface Ends {
  readonly inputs: Tensors;
  readonly outputs: Tensors;
}

export class Trunk implements Disposable {
  readonly #runtime: Runtime;
  readonly #config: LlamaConfig;
  readonly #store: ParameterStore;
  readonly #scratch: Scratch;
  readonly #sessions: TrunkSessions;
  readonly #tokens: Tensor;
  readonly #rows: number;
  #bindings = new Map<string, Binding>();
  #bound: Scope | undefined;
  #activations: Activations | undefined;

  constructor(runtime: Runtime, config: LlamaConfig, shape: BatchShape, store: ParameterStore, scratch: Scratch) {
    this.#runtime = runtime;
    this.#config = config;
    this.#store = store;
    this.#scratch = scratch;
    this.#rows = shape.batch * shape.length;
    this.#sessions = new TrunkSessions(runtime, config, shape);
    this.#tokens = runtime.tensor('int32', [this.#rows]);
  }

  /** Hidden states before the final norm, [T,D], of tokens [B,S]. `keep`: `backward` may follow. */
  async forward(tokens_BS: Int32Array, keep: boolean): Promise<Float32Array> {
    (this.#tokens.data as Int32Array).set(tokens_BS);
    await this.#run('embed', 0);
    for (let layer = 0; layer < this.#config.layers; layer++) await this.#run(keep ? 'forward' : 'score', layer);
    return this.#current().hidden.at(-1)!.data as Float32Array;
  }

  /** Where the gradient of the last hidden states, [T,D], must be put before `backward`. */
  get outputCotangent(): Float32Array {
    return this.#cotangent(this.#config.layers).data as Float32Array;
  }

  /** Adds to the embedding's gradient, and to those of the blocks; with `first` the blocks' are overwritten. */
  async backward(first: boolean): Promise<void> {
    for (let layer = this.#config.layers - 1; layer >= 0; layer--) await this.#run(first ? 'backward' : 'accumulate', layer);
    await this.#run('embed gradient', 0);
  }

  async #run(pass: TrunkPass, layer: number): Promise<void> {
    this.#current();
    const key = `${pass} ${layer}`;
    const binding = this.#bindings.get(key) ?? (await this.#bind(pass, layer));
    this.#bindings.set(key, binding);
    await binding.run();
  }

  async #bind(pass: TrunkPass, layer: number): Promise<Binding> {
    const session = await this.#sessions.session(pass);
    const { inputs, outputs } = this.#ends(pass, layer);
    // A partition drops the inputs that its side does not use.
    const used = Object.fromEntries(session.inputNames.map((name) => [name, inputs[name]!]));
    return this.#bound!.own(session.bind(used, outputs));
  }

  #ends(pass: TrunkPass, layer: number): Ends {
    const { hidden, kept } = this.#current();
    const table = this.#store.weight(embeddingName);
    const tableGradient = this.#store.gradient(embeddingName);
    const weights = Object.fromEntries(blockRoles.map((role) => [role, this.#store.blockWeight(layer, role)]));
    const x = { x: hidden[layer]!, ...weights };
    const y = { y: hidden[layer + 1]! };
    switch (pass) {
      case 'embed':
        return { inputs: { table, tokens: this.#tokens }, outputs: { y: hidden[0]! } };
      case 'embed gradient':
        return {
          inputs: { [previousOf('table')]: tableGradient, tokens: this.#tokens, d_y: this.#cotangent(0) },
          outputs: { [gradientOf('table')]: tableGradient },
        };
      case 'score':
        return { inputs: x, outputs: y };
      case 'forward':
        return { inputs: x, outputs: { ...y, ...kept[layer] } };
      case 'backward':
      case 'accumulate':
        return { inputs: { ...x, ...kept[layer], d_y: this.#cotangent(layer + 1), ...this.#gradients(layer, previousOf) },
          outputs: { d_x: this.#cotangent(layer), ...this.#gradients(layer, gradientOf) } };
    }
  }

  #gradients(layer: number, named: (role: string) => string): Tensors {
    return Object.fromEntries(blockRoles.map((role) => [named(role), this.#store.blockGradient(layer, role)]));
  }

  #cotangent(layer: number): Tensor {
    return this.#current().cotangents[layer % 2]!;
  }

  /** The shape's buffers; new ones, and no bindings, where the scratch memory has moved meanwhile. */
  #current(): Activations {
    const known = this.#activations;
    if (known !== undefined && this.#scratch.isCurrent(known.hidden[0]!.data as Float32Array)) return known;
    this.#release();
    const { layers, hiddenSize } = this.#config;
    const shape = { layers, rows: this.#rows, width: hiddenSize, kept: this.#sessions.kept };
    this.#bound = new Scope();
    this.#activations = this.#bound.own(new Activations(this.#runtime, shape, this.#scratch));
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
    this.#tokens[Symbol.dispose]();
    this.#sessions[Symbol.dispose]();
  }
}
