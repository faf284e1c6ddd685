// A native object shared by those that need it: destroyed when the last of them lets go. So a
// binding outlives its session's disposal and a run its binding's, without a dangling pointer.

export class SharedHandle<T> {
  readonly value: T;
  readonly #destroy: () => void;
  #holders = 1;

  /** The creator is the first holder. */
  constructor(value: T, destroy: () => void) {
    this.value = value;
    this.#destroy = destroy;
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
