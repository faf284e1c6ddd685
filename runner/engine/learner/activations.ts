// The buffers of one batch shape, slice by slice: hidden states, what blocks keep for their backward, cotangents.
// All lie in the learner's scratch memory.

import type { ValueType } from '../graph/graph.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import type { Scope } from '../ort/scope.ts';
import type { Dims } from './scratch.ts';

export interface ActivationShape {
  readonly layers: number;
  /** 1 on a device, which has no views. */
  readonly slices: number;
  /** Rows of a slice's hidden state. */
  readonly rows: number;
  /** D. */
  readonly width: number;
  /** Of a block and slice. */
  readonly kept: ReadonlyMap<string, ValueType>;
}

/** Rows [T,D] of all slices, and each slice's part [T/slices,D] of them. */
export interface Hidden {
  readonly all: Tensor;
  readonly slices: readonly Tensor[];
}

export interface Activations {
  /** x_0 … x_L. */
  readonly hidden: readonly Hidden[];
  /** Gradients of hidden states: block l reads one of the two and writes the other. */
  readonly cotangents: readonly [Hidden, Hidden];
  /** By layer, slice and name. */
  readonly kept: readonly (readonly Readonly<Record<string, Tensor>>[])[];
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** What the scratch memory has to give, in the order in which `activations` expects it. */
export function activationDims({ layers, slices, rows, width, kept }: ActivationShape): Dims[] {
  const ofBlock = [...kept.values()].map(({ shape }) => shape);
  return [
    ...times(layers + 3, () => [slices * rows, width]),
    ...times(layers * slices, () => ofBlock).flat(),
  ];
}

/** `scope` owns the views of slices; the tensors stay the scratch memory's. */
export function activations(
  runtime: Runtime,
  scope: Scope,
  shape: ActivationShape,
  tensors: readonly Tensor[],
): Activations {
  const { layers, slices, rows, width, kept } = shape;
  const part = (all: Tensor, slice: number): Tensor =>
    scope.own(
      runtime.tensor(
        'float32',
        [rows, width],
        (all.data as Float32Array).subarray(slice * rows * width, (slice + 1) * rows * width),
      ),
    );
  const hidden = (all: Tensor): Hidden => ({
    all,
    slices: slices === 1 ? [all] : times(slices, (slice) => part(all, slice)),
  });
  const keptOf = (layer: number, slice: number): Record<string, Tensor> => {
    const first = layers + 3 + (layer * slices + slice) * kept.size;
    return Object.fromEntries([...kept.keys()].map((name, i) => [name, tensors[first + i]!]));
  };
  return {
    hidden: times(layers + 1, (layer) => hidden(tensors[layer]!)),
    cotangents: [hidden(tensors[layers + 1]!), hidden(tensors[layers + 2]!)],
    kept: times(layers, (layer) => times(slices, (slice) => keptOf(layer, slice))),
  };
}
