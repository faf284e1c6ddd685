// Key/value caches of a number of rows: for every layer two buffers [rows, KV, capacity, hd]. The first B rows of a buffer
// are themselves a cache of B rows, so that a shrinking batch needs no copy of those that stay.
import type { DecoderConfig } from '../models/config.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import type { Scope } from '../ort/scope.ts';

export class KeyValueCache {
  readonly rows: number;
  readonly capacity: number;
  readonly #kvHeads: number;
  readonly #headSize: number;
  /** layers x 2, in the order key, value. */
  readonly #buffers: readonly Float32Array[];

  constructor({ layers, kvHeads, headSize }: DecoderConfig, rows: number, capacity: number) {
    this.rows = rows;
    this.capacity = capacity;
    this.#kvHeads = kvHeads;
    this.#headSize = headSize;
    this.#buffers = Array.from(
      { length: 2 * layers },
      () => new Float32Array(rows * kvHeads * capacity * headSize),
    );
  }

  /** The first `rows` rows as tensors by input name and by output name: the same tensors, so the update is in place. */
  tensors(
    runtime: Runtime,
    scope: Scope,
    rows: number,
  ): { inputs: Record<string, Tensor>; outputs: Record<string, Tensor> } {
    const inputs: Record<string, Tensor> = {};
    const outputs: Record<string, Tensor> = {};
    this.#buffers.forEach((buffer, i) => {
      const name = `${i >> 1}.${i % 2 === 0 ? 'key' : 'value'}_cache`;
      const dims = [rows, this.#kvHeads, this.capacity, this.#headSize];
      const tensor = scope.own(
        runtime.tensor(
          'float32',
          dims,
          buffer.subarray(
            0,
            dims.reduce((product, dim) => product * dim, 1),
          ),
        ),
      );
      inputs[name] = tensor;
      outputs[`${name}_out`] = tensor;
    });
    return { inputs, outputs };
  }

  /** Copies the first `length` tokens of row `from` of `source` to row `to` of this cache. */
  copyRow(source: KeyValueCache, from: number, to: number, length: number): void {
    if (source.capacity !== this.capacity)
      throw new Error(`internal: caches of ${source.capacity} and ${this.capacity} tokens`);
    const head = this.capacity * this.#headSize;
    this.#buffers.forEach((buffer, i) => {
      for (let h = 0; h < this.#kvHeads; h += 1) {
        const start = (from * this.#kvHeads + h) * head;
        buffer.set(
          source.#buffers[i]!.subarray(start, start + length * this.#headSize),
          (to * this.#kvHeads + h) * head,
        );
      }
    });
  }
}
