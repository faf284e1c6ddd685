// Caches on a device, which has no views: a batch of every size has buffers of its own, made when it is first needed and
// then kept, so that all sizes together hold about twice the largest. Rows are moved by graphs, and always as a whole.
import type { DecoderConfig } from '../models/config.ts';
import { CompiledMoves } from '../moves/compiled-moves.ts';
import { pickRowsGraph, placeRowsGraph } from '../moves/row-graphs.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';
import type { CacheEnds, KeyValueCache, RowMove } from './cache.ts';
import { cacheEnds } from './cache-ends.ts';

export class DeviceCache implements KeyValueCache {
  readonly rows: number;
  readonly capacity: number;
  readonly #runtime: Runtime;
  readonly #config: DecoderConfig;
  readonly #scope = new Scope();
  readonly #moves: CompiledMoves;
  readonly #promptBuffers: readonly Tensor[];
  /** By rows; layers x 2 each, in the order key, value. */
  readonly #buffers = new Map<number, readonly Tensor[]>();
  /** Rows of the batch at work. */
  #current: number;

  constructor(runtime: Runtime, config: DecoderConfig, rows: number, capacity: number) {
    this.rows = rows;
    this.capacity = capacity;
    this.#runtime = runtime;
    this.#config = config;
    this.#current = rows;
    this.#moves = this.#scope.own(new CompiledMoves(runtime));
    try {
      this.#promptBuffers = this.#allocate(1);
    } catch (error) {
      this.#scope[Symbol.dispose]();
      throw error;
    }
  }

  prompt(): CacheEnds {
    return cacheEnds(this.#promptBuffers);
  }

  batch(rows: number): CacheEnds {
    return cacheEnds(this.#buffersOf(rows));
  }

  begin(rows: number): void {
    this.#current = rows;
  }

  async admit(slots: readonly number[]): Promise<void> {
    const rows = this.#current;
    // Row 0 of [prompt; batch] is the prompt's.
    const index = Int32Array.from({ length: rows }, (_, row) => row + 1);
    for (const slot of slots) index[slot] = 0;
    const into = this.#buffersOf(rows);
    for (const [i, prompt] of this.#promptBuffers.entries()) {
      const previous = into[i]!;
      await this.#moves.runIndexed(
        `admit to ${rows} rows`,
        () => placeRowsGraph(prompt.dims, previous.dims),
        { rows: prompt, previous },
        ['index', index],
        { placed: previous },
        { sharedBuffers: true },
      );
    }
  }

  async resize(rows: number, moves: readonly RowMove[]): Promise<void> {
    const before = this.#current;
    if (rows === before) return;
    // Of a row that is new any content will do.
    const index = Int32Array.from({ length: rows }, (_, row) => (row < before ? row : 0));
    for (const { from, to } of moves) index[to] = from;
    const [source, target] = [this.#buffersOf(before), this.#buffersOf(rows)];
    for (const [i, from] of source.entries())
      await this.#moves.runIndexed(
        `resize from ${before} to ${rows} rows`,
        () => pickRowsGraph(from.dims, rows),
        { from },
        ['index', index],
        { picked: target[i]! },
      );
    this.#current = rows;
  }

  #buffersOf(rows: number): readonly Tensor[] {
    const known = this.#buffers.get(rows);
    if (known !== undefined) return known;
    const made = this.#allocate(rows);
    this.#buffers.set(rows, made);
    return made;
  }

  #allocate(rows: number): Tensor[] {
    const { layers, kvHeads, headSize } = this.#config;
    const dims = [rows, kvHeads, this.capacity, headSize];
    return Array.from({ length: 2 * layers }, () => this.#scope.own(this.#runtime.allocate('float32', dims)));
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
