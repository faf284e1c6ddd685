// Memory for activations, shared by all shapes of micro-batches: only one shape runs at a time, so the largest one's needs
// are all that is ever held. Whoever takes tensors is told when they have become others', and takes new ones.

import type { Runtime, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';

export type Dims = readonly number[];

export interface Scratch extends Disposable {
  /**
   * float32 tensors of these shapes, not zeroed, which stay the scratch memory's own. `revoked` is called before they are
   * void: whatever is bound to them must end there.
   */
  take(shapes: readonly Dims[], revoked: () => void): readonly Tensor[];
}

export const createScratch = (runtime: Runtime): Scratch =>
  runtime.provider === 'cpu' ? new HostScratch(runtime) : new DeviceScratch(runtime);

/** One block of memory: all users' tensors are views of its beginning, void when it has to grow. */
class HostScratch implements Scratch {
  readonly #runtime: Runtime;
  #memory = new Float32Array(0);
  #users: (() => void)[] = [];
  #views = new Scope();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  take(shapes: readonly Dims[], revoked: () => void): readonly Tensor[] {
    const elements = shapes.reduce((total, dims) => total + paddedSize(elementsOf(dims)), 0);
    if (elements > this.#memory.length) {
      this.#revokeAll();
      this.#memory = new Float32Array(elements);
    }
    this.#users.push(revoked);
    let used = 0;
    return shapes.map((dims) => {
      const size = elementsOf(dims);
      const view = this.#memory.subarray(used, used + size);
      used += paddedSize(size);
      return this.#views.own(this.#runtime.tensor('float32', dims, view));
    });
  }

  #revokeAll(): void {
    for (const revoked of this.#users.splice(0)) revoked();
    this.#views[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#revokeAll();
  }
}

/** One user at a time: the next one gets the tensors whose shape fits, the others make room for its own. */
class DeviceScratch implements Scratch {
  readonly #runtime: Runtime;
  #revoke: () => void = () => undefined;
  #held: Tensor[] = [];

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  take(shapes: readonly Dims[], revoked: () => void): readonly Tensor[] {
    this.#revoke();
    this.#revoke = revoked;
    const free = new Map<string, Tensor[]>();
    for (const tensor of this.#held) {
      const key = String(tensor.dims);
      free.set(key, [...(free.get(key) ?? []), tensor]);
    }
    const kept = shapes.map((dims) => free.get(String(dims))?.pop());
    for (const tensors of free.values()) for (const tensor of tensors) tensor[Symbol.dispose]();
    this.#held = kept.filter((tensor) => tensor !== undefined);
    return shapes.map((dims, i) => kept[i] ?? this.#allocate(dims));
  }

  #allocate(dims: Dims): Tensor {
    const tensor = this.#runtime.allocate('float32', dims);
    this.#held.push(tensor);
    return tensor;
  }

  [Symbol.dispose](): void {
    this.#revoke();
    this.#revoke = () => undefined;
    for (const tensor of this.#held) tensor[Symbol.dispose]();
    this.#held = [];
  }
}

const elementsOf = (dims: Dims): number => dims.reduce((product, dim) => product * dim, 1);

/** A whole number of cache lines, at which every view begins. */
const paddedSize = (elements: number): number => Math.ceil(elements / 16) * 16;
