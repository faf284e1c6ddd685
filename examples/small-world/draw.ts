// Draws of the generator: functions of a key alone (SHA-256), so that every machine writes the same world.
import { hash } from 'node:crypto';

const world = 'millrace small world 1';

/** Draws about one thing; each question is asked by a name of its own and always answered alike. */
export interface Draw {
  /** A whole number from 0 to `end` - 1. */
  below(name: string, end: number): number;
  /** A whole number from `low` to `high`, both included. */
  between(name: string, low: number, high: number): number;
  chance(name: string, probability: number): boolean;
  pick<Value>(name: string, values: readonly Value[]): Value;
}

export function drawOf(key: string): Draw {
  const fraction = (name: string): number =>
    hash('sha256', `${world}/${key}/${name}`, 'buffer').readUInt32LE(0) / 2 ** 32;
  const below = (name: string, end: number): number => Math.floor(fraction(name) * end);
  return {
    below,
    between: (name, low, high) => low + below(name, high - low + 1),
    chance: (name, probability) => fraction(name) < probability,
    pick: (name, values) => values[below(name, values.length)]!,
  };
}
