// Owner of native objects with one end of life. Node 22 runs these sources as they are and does not
// parse `using` yet, so owners keep a Scope and dispose it in `finally` or in their own disposal.

export class Scope implements Disposable {
  readonly #owned: Disposable[] = [];

  /** Takes ownership; returns the object, so that creation and ownership are one expression. */
  own<T extends Disposable>(object: T): T {
    this.#owned.push(object);
    return object;
  }

  /** Disposes what it owns, last first; a second call does nothing. One failure does not keep the rest alive. */
  [Symbol.dispose](): void {
    const failures: unknown[] = [];
    for (let object = this.#owned.pop(); object !== undefined; object = this.#owned.pop()) {
      try {
        object[Symbol.dispose]();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'disposal failed');
  }
}
