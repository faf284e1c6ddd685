// The buffers of one batch shape, slice by slice: hidden states, what blocks keep for their backward, cotangents.
// All lie in the learner's shared scratch memory.

import type { ValueType } from '../graph/graph.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';
import { paddedSize } from './scratch.ts';
import type { Scratch } from './scratch.ts';

export interface ActivationShape {
  readonly layers: number;
  readonly slices: number;
  /** Rows of a slice's hidden state. */
  readonly rows: number;
  /** D. */
  readonly width: number;
  /** Of a block and slice. */
  readonly kept: ReadonlyMap<string, ValueType>;
}

/** Rows [T,D] of all slices, and each slice's part as a tensor. */
export interface Hidden {
  readonly all: Float32Array;
  readonly slices: readonly Tensor[];
}

const elementCount = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

export class Activations implements Disposable {
  /** x_0 … x_L. */
  readonly hidden: readonly Hidden[];
  /** By layer, slice and name. */
  readonly kept: readonly (readonly Readonly<Record<string, Tensor>>[])[];
  /** Gradients of hidden states: block l reads one of the two and writes the other. */
  readonly cotangents: readonly [Hidden, Hidden];
  readonly #scope = new Scope();

  constructor(runtime: Runtime, shape: ActivationShape, scratch: Scratch) {
    const { layers, slices, rows, width, kept } = shape;
    scratch.reset(scratchSize(shape));
    const tensor = (dims: readonly number[], data: Float32Array): Tensor =>
      this.#scope.own(runtime.tensor('float32', dims, data));
    const hidden = (): Hidden => {
      const all = scratch.take(slices * rows * width);
      return {
        all,
        slices: times(slices, (s) =>
          tensor([rows, width], all.subarray(s * rows * width, (s + 1) * rows * width)),
        ),
      };
    };
    const keptOf = (): Record<string, Tensor> =>
      Object.fromEntries(
        [...kept].map(([name, { shape: dims }]) => [name, tensor(dims, scratch.take(elementCount(dims)))]),
      );
    this.hidden = times(layers + 1, hidden);
    this.cotangents = [hidden(), hidden()];
    this.kept = times(layers, () => times(slices, keptOf));
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}

function scratchSize({ layers, slices, rows, width, kept }: ActivationShape): number {
  const perSlice = [...kept.values()].reduce(
    (total, { shape }) => total + paddedSize(elementCount(shape)),
    0,
  );
  return (layers + 3) * paddedSize(slices * rows * width) + layers * slices * perSlice;
}
