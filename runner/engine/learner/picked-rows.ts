// Rows of hidden states on their way to the host, some thousands at a time.

import { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { headChunkSize } from './head-definition.ts';
import type { RowMoves } from './row-moves.ts';

export class PickedRows implements Disposable {
  readonly #runtime: Runtime;
  readonly #width: number;
  readonly #moves: RowMoves;
  readonly #scope = new Scope();
  readonly #buffers = new Map<number, Tensor>();

  /** `width`: D. */
  constructor(runtime: Runtime, width: number, moves: RowMoves) {
    this.#runtime = runtime;
    this.#width = width;
    this.#moves = moves;
  }

  /** Rows [R] of `hidden` [T,D] as they stand, [R,D]. */
  async read(hidden: Tensor, rows_R: Int32Array): Promise<Float32Array> {
    const D = this.#width;
    const read_RD = new Float32Array(rows_R.length * D);
    for (let begin = 0; begin < rows_R.length;) {
      const buffer = this.#buffer(headChunkSize(rows_R.length - begin, 1));
      const rows = rows_R.subarray(begin, begin + buffer.dims[0]!);
      await this.#moves.pick(hidden, rows, buffer);
      read_RD.set(((await buffer.read()) as Float32Array).subarray(0, rows.length * D), begin * D);
      begin += rows.length;
    }
    return read_RD;
  }

  #buffer(size: number): Tensor {
    const known = this.#buffers.get(size);
    if (known !== undefined) return known;
    const buffer = this.#scope.own(this.#runtime.allocate('float32', [size, this.#width]));
    this.#buffers.set(size, buffer);
    return buffer;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
