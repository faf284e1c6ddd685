// From callbacks to an async iteration: what is sent waits until it is read. The sender is never held up, so what waits is
// bounded by what is sent (here: the tokens of one answer).

export class Channel<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  #wake: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;

  send(item: Item): void {
    this.#items.push(item);
    this.#wake?.();
  }

  close(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** The reader gets what was sent before, then this error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift()!;
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      }
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}
