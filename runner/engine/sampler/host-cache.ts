// Caches in host memory. The first B rows of a buffer are themselves a cache of B rows, so that a shrinking batch needs no
// copy of those that stay; rows are copied only as far as they hold tokens.
import type { DecoderConfig } from '../models/config.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';
import type { CacheEnds, KeyValueCache, RowMove } from './cache.ts';
import { cacheEnds } from './cache-ends.ts';

export class HostCache implements KeyValueCache {
  readonly rows: number;
  readonly capacity: number;
  readonly #runtime: Runtime;
  readonly #kvHeads: number;
  readonly #headSize: number;
  /** layers x 2, in the order key, value. */
  readonly #buffers: readonly Float32Array[];
  readonly #promptBuffers: readonly Float32Array[];
  readonly #ends = new Map<string, CacheEnds>();
  readonly #scope = new Scope();

  constructor(
    runtime: Runtime,
    { layers, kvHeads, headSize }: DecoderConfig,
    rows: number,
    capacity: number,
  ) {
    this.rows = rows;
    this.capacity = capacity;
    this.#runtime = runtime;
    this.#kvHeads = kvHeads;
    this.#headSize = headSize;
    const buffers = (count: number): Float32Array[] =>
      Array.from({ length: 2 * layers }, () => new Float32Array(count * kvHeads * capacity * headSize));
    this.#buffers = buffers(rows);
    this.#promptBuffers = buffers(1);
  }

  prompt(): CacheEnds {
    return this.#endsOf('prompt', this.#promptBuffers, 1);
  }

  batch(rows: number): CacheEnds {
    return this.#endsOf(`batch of ${rows}`, this.#buffers, rows);
  }

  begin(): void {
    // A row's tokens are written before they are read.
  }

  admit(slots: readonly number[], length: number): Promise<void> {
    for (const slot of slots) this.#copy(this.#promptBuffers, { from: 0, to: slot, length });
    return Promise.resolve();
  }

  resize(_rows: number, moves: readonly RowMove[]): Promise<void> {
    for (const move of moves) this.#copy(this.#buffers, move);
    return Promise.resolve();
  }

  #copy(source: readonly Float32Array[], { from, to, length }: RowMove): void {
    const head = this.capacity * this.#headSize;
    this.#buffers.forEach((buffer, i) => {
      for (let h = 0; h < this.#kvHeads; h += 1) {
        const start = (from * this.#kvHeads + h) * head;
        buffer.set(
          source[i]!.subarray(start, start + length * this.#headSize),
          (to * this.#kvHeads + h) * head,
        );
      }
    });
  }

  #endsOf(key: string, buffers: readonly Float32Array[], rows: number): CacheEnds {
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    const dims = [rows, this.#kvHeads, this.capacity, this.#headSize];
    const size = dims.reduce((product, dim) => product * dim, 1);
    const tensors = buffers.map((buffer): Tensor =>
      this.#scope.own(this.#runtime.tensor('float32', dims, buffer.subarray(0, size))),
    );
    const ends = cacheEnds(tensors);
    this.#ends.set(key, ends);
    return ends;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
