// Parameters on a device, a tensor each: they go there and come back one at a time, never as one large block.

import type { Arena, ParameterLayout, Slot } from '../models/parameters.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import type { ParameterSet } from './parameter-set.ts';

interface Placed extends Slot {
  readonly tensor: Tensor;
}

export class DeviceParameters implements ParameterSet {
  readonly layout: ParameterLayout;
  readonly #scope = new Scope();
  readonly #placed: ReadonlyMap<string, Placed>;

  constructor(runtime: Runtime, layout: ParameterLayout) {
    this.layout = layout;
    try {
      this.#placed = new Map(
        [...layout.slots.values()].map((slot) => [
          slot.name,
          { ...slot, tensor: this.#scope.own(runtime.allocate('float32', slot.shape)) },
        ]),
      );
    } catch (error) {
      this.#scope[Symbol.dispose]();
      throw error;
    }
  }

  tensor(name: string): Tensor {
    const placed = this.#placed.get(name);
    if (placed === undefined)
      throw new Error(`no parameter "${name}": this model has ${[...this.#placed.keys()].join(', ')}`);
    return placed.tensor;
  }

  joined(): undefined {
    return undefined;
  }

  pieces(begin: number, end: number): readonly Tensor[] {
    return [...this.#placed.values()]
      .filter(({ offset }) => offset >= begin && offset < end)
      .map(({ tensor }) => tensor);
  }

  async read(): Promise<Arena> {
    const arena = new Float32Array(this.layout.size);
    for (const { tensor, offset } of this.#placed.values())
      arena.set((await tensor.read()) as Float32Array, offset);
    return arena;
  }

  async write(arena: Arena): Promise<void> {
    for (const { tensor, offset, size } of this.#placed.values())
      await tensor.write(arena.subarray(offset, offset + size));
  }

  async zero(): Promise<void> {
    for (const { tensor } of this.#placed.values()) await tensor.zero();
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
