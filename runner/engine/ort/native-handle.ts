// A native object shared by those that need it: destroyed when the last of them lets go. So a
// binding outlives its session's disposal and a run outlives its binding's, without a dangling pointer.
import { release, type Pointer } from './api.ts';

export class NativeHandle {
  readonly pointer: Pointer;
  readonly #destroy: () => void;
  #holders = 1;

  constructor(
    releaseName: Parameters<typeof release>[0],
    pointer: Pointer,
    afterwards: () => void = () => undefined,
  ) {
    this.pointer = pointer;
    this.#destroy = () => {
      release(releaseName, pointer);
      afterwards();
    };
  }

  retain(): this {
    this.#holders += 1;
    return this;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#destroy();
  }
}
