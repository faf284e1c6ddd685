// Rows between trunk, head and embedding: picked for the head, put back as cotangents, added to the embedding's gradient.
// In plain loops over host memory (ScatterElements takes five times as long), as small graphs on a device.

import { CompiledMoves } from '../moves/compiled-moves.ts';
import { addRowsGraph, pickRowsGraph, placeRowsGraph } from '../moves/row-graphs.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';

export interface RowMoves extends Disposable {
  /** The first rows of `into` [R,D] become rows `rows` of `from` [T,D]; what the others are is finite if it was. */
  pick(from: Tensor, rows: Int32Array, into: Tensor): Promise<void>;
  /** Rows `rows` of `into` [T,D], all different, become the first of `from` [R,D]. */
  place(from: Tensor, rows: Int32Array, into: Tensor): Promise<void>;
  /** Adds rows [T,D] to the table's rows at `ids` [T]. */
  add(rows: Tensor, ids: Int32Array, table: Tensor): Promise<void>;
}

export const createRowMoves = (runtime: Runtime): RowMoves =>
  runtime.provider === 'cpu' ? hostMoves : new DeviceMoves(runtime);

const dataOf = (tensor: Tensor): Float32Array => tensor.data as Float32Array;
const widthOf = (tensor: Tensor): number => tensor.dims[1]!;

const hostMoves: RowMoves = {
  pick(from, rows, into) {
    const [source, target, D] = [dataOf(from), dataOf(into), widthOf(from)];
    for (let r = 0; r < rows.length; r++)
      target.set(source.subarray(rows[r]! * D, (rows[r]! + 1) * D), r * D);
    return Promise.resolve();
  },
  place(from, rows, into) {
    const [source, target, D] = [dataOf(from), dataOf(into), widthOf(from)];
    for (let r = 0; r < rows.length; r++) target.set(source.subarray(r * D, (r + 1) * D), rows[r]! * D);
    return Promise.resolve();
  },
  add(rows, ids, table) {
    const [source, target, D] = [dataOf(rows), dataOf(table), widthOf(table)];
    for (let t = 0; t < ids.length; t++) {
      const [into, from] = [ids[t]! * D, t * D];
      for (let i = 0; i < D; i++) target[into + i]! += source[from + i]!;
    }
    return Promise.resolve();
  },
  [Symbol.dispose]: () => undefined,
};

class DeviceMoves implements RowMoves {
  readonly #moves: CompiledMoves;

  constructor(runtime: Runtime) {
    this.#moves = new CompiledMoves(runtime);
  }

  async pick(from: Tensor, rows: Int32Array, into: Tensor): Promise<void> {
    const count = into.dims[0]!;
    const index = new Int32Array(count);
    index.set(rows);
    const label = `pick ${count} of [${from.dims.join('x')}]`;
    const graph = () => pickRowsGraph(from.dims, count);
    await this.#moves.runIndexed(label, graph, { from }, ['index', index], { picked: into });
  }

  async place(from: Tensor, rows: Int32Array, into: Tensor): Promise<void> {
    const given = from.dims[0]!;
    // Every row stays what it is, except those that are given.
    const index = Int32Array.from({ length: into.dims[0]! }, (_, row) => given + row);
    rows.forEach((row, r) => (index[row] = r));
    const label = `place ${given} in [${into.dims.join('x')}]`;
    const graph = () => placeRowsGraph(from.dims, into.dims);
    const inputs = { rows: from, previous: into };
    await this.#moves.runIndexed(label, graph, inputs, ['index', index], { placed: into });
  }

  async add(rows: Tensor, ids: Int32Array, table: Tensor): Promise<void> {
    const label = `add ${ids.length} to [${table.dims.join('x')}]`;
    const graph = () => addRowsGraph(table.dims, rows.dims);
    await this.#moves.runIndexed(label, graph, { rows, previous: table }, ['index', ids], { sum: table });
  }

  [Symbol.dispose](): void {
    this.#moves[Symbol.dispose]();
  }
}
