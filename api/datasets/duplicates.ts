// Which rows of an upload repeat the prompt of an earlier one. Of each prompt 64 bits of a hash are kept, in a table that grows to
// a bound; beyond it further prompts are compared, but not remembered.
import { hash } from 'node:crypto';
import type { ValidationReport } from '../contract/dataset.ts';
import { namedDuplicates } from '../contract/dataset.ts';
import type { DatasetKind, RowOf } from '../contract/task.ts';

const firstSlots = 1 << 12;
/** 48 MB; half of them are used, so that a search ends soon. */
const mostSlots = 1 << 22;

/** What stands before the answer, as text that is equal where the prompts are. */
export const promptOf = (row: RowOf<DatasetKind>): string =>
  JSON.stringify('prompt' in row ? row.prompt : row.messages.slice(0, -1));

export interface Duplicates {
  add(row: number, prompt: string): void;
  report(): ValidationReport['duplicates'];
}

export function createDuplicates(slots = mostSlots): Duplicates {
  let table = newTable(Math.min(firstSlots, slots));
  let remembered = 0;
  let count = 0;
  const pairs: { row: number; first: number }[] = [];
  return {
    add(row, prompt) {
      const key = hash('sha1', prompt, 'buffer').readBigUInt64LE();
      const at = slotOf(table, key);
      const first = table.rows[at]! - 1;
      if (first >= 0) {
        count += 1;
        if (pairs.length < namedDuplicates) pairs.push({ row, first });
        return;
      }
      if (remembered >= slots / 2) return;
      put(table, at, key, row);
      remembered += 1;
      if (remembered >= table.keys.length / 2 && table.keys.length < slots) table = doubled(table);
    },
    report: () => ({ count, pairs }),
  };
}

/** Open addressing; a slot is free where its row is 0. */
interface Table {
  readonly keys: BigUint64Array;
  /** Row number + 1. */
  readonly rows: Uint32Array;
}

const newTable = (slots: number): Table => ({
  keys: new BigUint64Array(slots),
  rows: new Uint32Array(slots),
});

/** Where the key is, or else where it belongs. */
function slotOf({ keys, rows }: Table, key: bigint): number {
  let at = Number(key & BigInt(keys.length - 1));
  while (rows[at] !== 0 && keys[at] !== key) at = (at + 1) % keys.length;
  return at;
}

function put({ keys, rows }: Table, at: number, key: bigint, row: number): void {
  keys[at] = key;
  rows[at] = row + 1;
}

function doubled(table: Table): Table {
  const larger = newTable(2 * table.keys.length);
  for (const [at, key] of table.keys.entries())
    if (table.rows[at] !== 0) put(larger, slotOf(larger, key), key, table.rows[at]! - 1);
  return larger;
}
