// Draws that a seed decides, and what is picked from them.

export type Random = () => number;

/** mulberry32: small, seeded, good enough to pick mutations. */
export function generator(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;

export const chance = (random: Random, share: number): boolean => random() < share;

export const below = (random: Random, count: number): number => Math.floor(random() * count);
