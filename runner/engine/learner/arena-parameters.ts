// Parameters in one flat arena of host memory: every tensor is a view, so sessions read and write the arena in place.

import { slotView } from '../models/parameters.ts';
import type { Arena, ParameterLayout } from '../models/parameters.ts';
import { flatChunks } from '../optimizer/flat-chunks.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import type { ParameterSet } from './parameter-set.ts';

export class ArenaParameters implements ParameterSet {
  readonly layout: ParameterLayout;
  readonly #runtime: Runtime;
  readonly #arena: Arena;
  readonly #scope = new Scope();
  readonly #tensors = new Map<string, Tensor>();

  /** The arena stays the caller's too: what it writes there, sessions read. */
  constructor(runtime: Runtime, layout: ParameterLayout, arena: Arena) {
    this.#runtime = runtime;
    this.layout = layout;
    this.#arena = arena;
  }

  tensor(name: string): Tensor {
    const view = slotView(this.layout, this.#arena, name);
    return this.#view(name, this.layout.slots.get(name)!.shape, view);
  }

  joined(names: readonly string[], dims: readonly number[]): Tensor {
    const slots = names.map((name) => this.layout.slots.get(name)!);
    slots.slice(1).forEach((slot, i) => {
      const before = slots[i]!;
      if (before.offset + before.size !== slot.offset)
        throw new Error(`internal: ${before.name} and ${slot.name} are not neighbours in the arena`);
    });
    const [first, last] = [slots[0]!, slots.at(-1)!];
    return this.#view(names.join(' '), dims, this.#arena.subarray(first.offset, last.offset + last.size));
  }

  pieces(begin: number, end: number): readonly Tensor[] {
    return flatChunks(begin, end).map((chunk) =>
      this.#view(
        `${chunk.begin} to ${chunk.end}`,
        [chunk.end - chunk.begin],
        this.#arena.subarray(chunk.begin, chunk.end),
      ),
    );
  }

  read(): Promise<Arena> {
    return Promise.resolve(this.#arena);
  }

  write(arena: Arena): Promise<void> {
    this.#arena.set(arena);
    return Promise.resolve();
  }

  zero(): Promise<void> {
    this.#arena.fill(0);
    return Promise.resolve();
  }

  #view(key: string, dims: readonly number[], data: Arena): Tensor {
    const known = this.#tensors.get(key);
    if (known !== undefined) return known;
    const tensor = this.#scope.own(this.#runtime.tensor('float32', dims, data));
    this.#tensors.set(key, tensor);
    return tensor;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
