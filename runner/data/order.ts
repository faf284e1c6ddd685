// Which rows an optimizer step uses: a function of (job seed, stage, step) alone, so that a resumed stage goes on with
// exactly the rows that it would have seen, whatever was computed before.
//
// The rows of all epochs stand in one endless line, each epoch in an order of its own; step s (from 1) takes the
// places from (s - 1) x size on. A batch at the end of an epoch wraps into the next one: every batch is full, no row
// is left out, and a resume at an epoch's boundary is nothing special.
import { hash } from 'node:crypto';

export interface BatchPlan {
  /** The job's seed. */
  readonly seed: number;
  /** The stage's name. */
  readonly stage: string;
  /** Rows of the dataset. */
  readonly rows: number;
  /** Rows in one step. */
  readonly size: number;
}

export type OrderKey = Pick<BatchPlan, 'seed' | 'stage' | 'rows'> & {
  /** Which pass over the rows, from 0. */
  readonly epoch: number;
};

const keysInDigest = 4;

/** One 64-bit key a row: SHA-256 in counter mode over (seed, stage, epoch, block). */
function sortingKeys({ seed, stage, rows, epoch }: OrderKey): BigUint64Array {
  const keys = new BigUint64Array(rows);
  for (let block = 0; block * keysInDigest < rows; block++) {
    const digest = hash('sha256', JSON.stringify(['row-order', seed, stage, epoch, block]), 'buffer');
    for (let lane = 0; lane < keysInDigest && block * keysInDigest + lane < rows; lane++) {
      keys[block * keysInDigest + lane] = digest.readBigUInt64LE(8 * lane);
    }
  }
  return keys;
}

/** A permutation of 0 … rows-1: rows sorted by their keys, equal keys by row. */
export function rowOrder(key: OrderKey): Uint32Array {
  const keys = sortingKeys(key);
  const order = Uint32Array.from({ length: key.rows }, (_, row) => row);
  return order.sort((a, b) => {
    const [left, right] = [keys[a]!, keys[b]!];
    return left === right ? a - b : left < right ? -1 : 1;
  });
}

/** Orders of the epochs used last: they are expensive to sort and asked for step after step. */
const known = new Map<string, Uint32Array>();
const knownLimit = 4;

/** `rowOrder`, remembered for the epochs at work. */
export function epochOrder(key: OrderKey): Uint32Array {
  const text = JSON.stringify([key.seed, key.stage, key.rows, key.epoch]);
  const order = known.get(text) ?? rowOrder(key);
  known.delete(text);
  known.set(text, order);
  for (const oldest of known.keys()) if (known.size > knownLimit) known.delete(oldest);
  return order;
}

/** Rows of step `step` (from 1), in the batch's order. A row comes twice only where a batch reaches into the next epoch. */
export function batchOf({ seed, stage, rows, size }: BatchPlan, step: number): number[] {
  if (rows < 1 || step < 1) throw new Error(`internal: no batch of ${rows} rows at step ${step}`);
  return Array.from({ length: size }, (_, at) => {
    const place = (step - 1) * size + at;
    return epochOrder({ seed, stage, rows, epoch: Math.floor(place / rows) })[place % rows]!;
  });
}
