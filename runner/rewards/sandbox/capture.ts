// The first bytes of a stream, up to a limit. Says when there was more, once; what is over the limit is not kept.
export class Capture {
  readonly #chunks: Uint8Array[] = [];
  readonly #limit: number;
  readonly #onOverflow: () => void;
  #length = 0;

  constructor(limit: number, onOverflow: () => void) {
    this.#limit = limit;
    this.#onOverflow = onOverflow;
  }

  add(chunk: Uint8Array): void {
    const room = this.#limit - this.#length;
    if (room < 0) return;
    this.#length += chunk.length;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length > room) this.#onOverflow();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
