// The parameters of a model by name: its weights and, where it learns, gradients and both moments of what is trained, which
// is the weights or, with LoRA, the adapters beside them. 16 bytes a trained parameter, 4 a frozen one.

import type { BlockInputRole } from '../models/decoder-block.ts';
import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import { blockInputName } from '../models/lora.ts';
import { plainForm } from '../models/model-form.ts';
import type { ModelForm } from '../models/model-form.ts';
import type { ParameterLayout } from '../models/parameters.ts';
import type { OptimizedParameters, UpdatePiece } from '../optimizer/adamw.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { loadAdapters, loadParameters, zeroParameters } from './parameter-set.ts';
import type { ParameterSet } from './parameter-set.ts';

export type TrainedKind = 'gradients' | 'firstMoment' | 'secondMoment';

export interface StoreOptions {
  /** Nothing is trained: no gradients and moments. */
  readonly frozen?: boolean;
  readonly form?: ModelForm | undefined;
  /** By PEFT's names; needed where the form has LoRA. */
  readonly adapters?: Weights | undefined;
}

interface Sets {
  readonly weights: ParameterSet;
  readonly adapters: ParameterSet | undefined;
  readonly trained: Readonly<Record<TrainedKind, ParameterSet>> | undefined;
}

export class ParameterStore implements Disposable {
  readonly form: ModelForm;
  readonly weights: ParameterSet;
  readonly adapters: ParameterSet | undefined;
  readonly #trained: Readonly<Record<TrainedKind, ParameterSet>> | undefined;
  readonly #scope: Scope;

  private constructor(form: ModelForm, { weights, adapters, trained }: Sets, scope: Scope) {
    this.form = form;
    this.weights = weights;
    this.adapters = adapters;
    this.#trained = trained;
    this.#scope = scope;
  }

  /** Copies `weights` and adapters. Throws where they do not fit, with the tensors' names. */
  static async create(
    runtime: Runtime,
    config: DecoderConfig,
    weights: Weights,
    { frozen = false, form = plainForm, adapters }: StoreOptions = {},
  ): Promise<ParameterStore> {
    const scope = new Scope();
    try {
      const { lora } = form;
      const besideAdapters = lora !== undefined;
      const loaded = scope.own(await loadParameters(runtime, config, weights, { besideAdapters }));
      const beside =
        lora && scope.own(await loadAdapters(runtime, config, lora, adapters ?? new Map<string, never>()));
      const { layout } = beside ?? loaded;
      const zeros = (): ParameterSet => scope.own(zeroParameters(runtime, layout));
      const trained = frozen
        ? undefined
        : { gradients: zeros(), firstMoment: zeros(), secondMoment: zeros() };
      return new ParameterStore(form, { weights: loaded, adapters: beside, trained }, scope);
    } catch (error) {
      scope[Symbol.dispose]();
      throw error;
    }
  }

  /** What the optimizer changes. */
  get trainedWeights(): ParameterSet {
    return this.adapters ?? this.weights;
  }

  /** That of what is trained. */
  get layout(): ParameterLayout {
    return this.trainedWeights.layout;
  }

  trains(name: string): boolean {
    return this.layout.slots.has(name);
  }

  /** No gradient of it will ever be taken. */
  get isFrozen(): boolean {
    return this.#trained === undefined;
  }

  trained(kind: TrainedKind): ParameterSet {
    if (this.#trained === undefined) throw new Error(`internal: a frozen model has no ${kind}`);
    return this.#trained[kind];
  }

  weight(name: string): Tensor {
    return this.weights.tensor(name);
  }

  gradient(name: string): Tensor {
    return this.trained('gradients').tensor(name);
  }

  blockWeight(layer: number, role: BlockInputRole): Tensor {
    const name = blockInputName(layer, role);
    return this.adapters?.layout.slots.has(name) ? this.adapters.tensor(name) : this.weight(name);
  }

  blockGradient(layer: number, role: BlockInputRole): Tensor {
    return this.gradient(blockInputName(layer, role));
  }

  /** What AdamW runs over: weight decay ends where the layout says so. */
  optimized(): OptimizedParameters {
    const { size, decayedSize } = this.layout;
    const updates = (begin: number, end: number, decayed: boolean): UpdatePiece[] => {
      const pieces = (kind: TrainedKind): readonly Tensor[] => this.trained(kind).pieces(begin, end);
      const [gradients, firsts, seconds] = [
        pieces('gradients'),
        pieces('firstMoment'),
        pieces('secondMoment'),
      ];
      return this.trainedWeights.pieces(begin, end).map((weight, i) => ({
        weight,
        gradient: gradients[i]!,
        first: firsts[i]!,
        second: seconds[i]!,
        decayed,
      }));
    };
    return {
      gradients: this.trained('gradients').pieces(0, size),
      updates: [...updates(0, decayedSize, true), ...updates(decayedSize, size, false)],
    };
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
