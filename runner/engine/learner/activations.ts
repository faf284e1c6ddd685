// The buffers of one batch shape: hidden states, what blocks keep for their backward, and cotangents.
// All lie in the learner's shared scratch memory; only the token ids are the shape's own.

import type { ValueType } from '../graph/graph.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';
import { paddedSize } from './scratch.ts';
import type { Scratch } from './scratch.ts';

export interface ActivationShape {
  readonly layers: number;
  /** T, rows of a hidden state. */
  readonly rows: number;
  /** D. */
  readonly width: number;
  readonly kept: ReadonlyMap<string, ValueType>;
}

const elementCount = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

export class Activations implements Disposable {
  /** x_0 … x_L, [T,D] each. */
  readonly hidden: readonly Tensor[];
  /** By layer and name. */
  readonly kept: readonly Readonly<Record<string, Tensor>>[];
  /** Gradients of hidden states: block l reads one of the two and writes the other. */
  readonly cotangents: readonly [Tensor, Tensor];
  readonly #scope = new Scope();

  constructor(runtime: Runtime, { layers, rows, width, kept }: ActivationShape, scratch: Scratch) {
    const keptShapes = [...kept].map(([name, { shape }]) => [name, shape] as const);
    const perLayer = keptShapes.reduce((total, [, shape]) => total + paddedSize(elementCount(shape)), 0);
    scratch.reset((layers + 3) * paddedSize(rows * width) + layers * perLayer);
    const tensor = (shape: readonly number[]): Tensor =>
      this.#scope.own(runtime.tensor('float32', shape, scratch.take(elementCount(shape))));
    this.hidden = Array.from({ length: layers + 1 }, () => tensor([rows, width]));
    this.cotangents = [tensor([rows, width]), tensor([rows, width])];
    this.kept = Array.from({ length: layers }, () => Object.fromEntries(keptShapes.map(([name, shape]) => [name, tensor(shape)])));
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
