// The parameters of a model by name: its weights and, where it learns, their gradients and both moments.
// In training 16 bytes a parameter, frozen 4.

import { blockTensorName } from '../models/decoder-tensors.ts';
import type { BlockRole } from '../models/decoder-tensors.ts';
import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import type { ParameterLayout } from '../models/parameters.ts';
import type { OptimizedParameters, UpdatePiece } from '../optimizer/adamw.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { loadParameters, zeroParameters } from './parameter-set.ts';
import type { ParameterSet } from './parameter-set.ts';

export type TrainedKind = 'gradients' | 'firstMoment' | 'secondMoment';

export class ParameterStore implements Disposable {
  readonly weights: ParameterSet;
  readonly #trained: Readonly<Record<TrainedKind, ParameterSet>> | undefined;
  readonly #scope: Scope;

  private constructor(
    weights: ParameterSet,
    trained: Readonly<Record<TrainedKind, ParameterSet>> | undefined,
    scope: Scope,
  ) {
    this.weights = weights;
    this.#trained = trained;
    this.#scope = scope;
  }

  /** Copies `weights`. `frozen`: no gradients and moments. Throws where they do not fit, with the tensors' names. */
  static async create(
    runtime: Runtime,
    config: DecoderConfig,
    weights: Weights,
    { frozen = false } = {},
  ): Promise<ParameterStore> {
    const scope = new Scope();
    try {
      const loaded = scope.own(await loadParameters(runtime, config, weights));
      const zeros = (): ParameterSet => scope.own(zeroParameters(runtime, loaded.layout));
      const trained = frozen
        ? undefined
        : { gradients: zeros(), firstMoment: zeros(), secondMoment: zeros() };
      return new ParameterStore(loaded, trained, scope);
    } catch (error) {
      scope[Symbol.dispose]();
      throw error;
    }
  }

  get layout(): ParameterLayout {
    return this.weights.layout;
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

  blockWeight(layer: number, role: BlockRole): Tensor {
    return this.weight(blockTensorName(layer, role));
  }

  blockGradient(layer: number, role: BlockRole): Tensor {
    return this.gradient(blockTensorName(layer, role));
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
      return this.weights.pieces(begin, end).map((weight, i) => ({
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
