// When a delivery that failed is tried again, and when it is given up.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** After the first failure, the second, … */
export const retryPausesMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  6 * hour,
  24 * hour,
] as const;

/** A webhook to which nothing was delivered for so long is switched off. */
export const failingMs = 5 * 24 * hour;

/** Up to a tenth more, so that what failed together does not come back together; null: it is given up. `failures`: this one too. */
export function retryPause(failures: number, random: () => number = Math.random): number | null {
  const pause = retryPausesMs[failures - 1];
  return pause === undefined ? null : Math.round(pause * (1 + random() / 10));
}
