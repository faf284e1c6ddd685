// The four arenas of a model in training (weights, gradients, first and second moments) and their tensors.
// 16 bytes a parameter; every tensor is a view, so sessions read and write the arenas in place.

import { blockTensorName } from '../models/decoder-tensors.ts';
import type { BlockRole } from '../models/decoder-tensors.ts';
import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import { packWeights, parameterLayout, slotView } from '../models/parameters.ts';
import type { Arena, ParameterLayout } from '../models/parameters.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';

export interface Arenas {
  readonly weights: Arena;
  readonly gradients: Arena;
  readonly firstMoment: Arena;
  readonly secondMoment: Arena;
}

export class ParameterStore implements Disposable {
  readonly layout: ParameterLayout;
  readonly arenas: Arenas;
  readonly #runtime: Runtime;
  readonly #scope = new Scope();
  readonly #tensors = new Map<string, Tensor>();

  constructor(runtime: Runtime, config: DecoderConfig, weights: Weights) {
    this.#runtime = runtime;
    this.layout = parameterLayout(config);
    const zeros = (): Arena => new Float32Array(this.layout.size);
    this.arenas = {
      weights: packWeights(config, this.layout, weights),
      gradients: zeros(),
      firstMoment: zeros(),
      secondMoment: zeros(),
    };
  }

  weight(name: string): Tensor {
    return this.#tensor('weights', name);
  }

  gradient(name: string): Tensor {
    return this.#tensor('gradients', name);
  }

  blockWeight(layer: number, role: BlockRole): Tensor {
    return this.weight(blockTensorName(layer, role));
  }

  blockGradient(layer: number, role: BlockRole): Tensor {
    return this.gradient(blockTensorName(layer, role));
  }

  /** The gradient of one tensor as memory. */
  gradientView(name: string): Arena {
    return slotView(this.layout, this.arenas.gradients, name);
  }

  #tensor(arena: 'weights' | 'gradients', name: string): Tensor {
    const key = `${arena} ${name}`;
    const known = this.#tensors.get(key);
    if (known !== undefined) return known;
    const data = slotView(this.layout, this.arenas[arena], name);
    const tensor = this.#scope.own(this.#runtime.tensor('float32', this.layout.slots.get(name)!.shape, data));
    this.#tensors.set(key, tensor);
    return tensor;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
