// Intervals of means over tasks. Tasks are what is sampled from a population: the k answers to one task are not independent, so a
// task counts once however often it was answered. Why so: ADR 0019.
import type { DrawKey } from '../../engine/random/draws.ts';
import { mean } from '../mean.ts';
import { bootstrapInterval } from './bootstrap.ts';
import { normalQuantile } from './normal.ts';

export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Of values between 0 and `most`; undefined: they have no bounds. */
export type Most = number | undefined;

/**
 * Mean and its interval: of values with bounds the score interval, which has a width where all tasks are 0 or all are 1; of
 * others (log-probabilities, scores of reward models) the bootstrap.
 */
export function meanInterval(
  values: readonly number[],
  most: Most,
  key: DrawKey,
  confidence: number,
): Interval {
  const bounded = most !== undefined && values.every((value) => value >= 0 && value <= most);
  if (!bounded) return bootstrapInterval(values, key, confidence);
  const { value, low, high } = scoreInterval(
    values.map((one) => one / most),
    confidence,
  );
  return { value: value * most, low: low * most, high: high * most };
}

/**
 * Wilson's score interval (1927) for n tasks with values in [0, 1], with the effective number of tasks
 *   n_e = n * m(1 - m) / v
 * in the place of n (Korn and Graubard 1998): values between 0 and 1 vary less than a coin of the same mean. v / m(1 - m) is
 * estimated with two tasks more, one of value 0 and one of value 1, so that it is neither 0/0 nor 0 where all tasks agree.
 * Of values that are all 0 or 1 it is 1, and the interval Wilson's own.
 */
export function scoreInterval(values: readonly number[], confidence: number): Interval {
  const n = values.length;
  const m = mean(values);
  const z2 = normalQuantile((1 + confidence) / 2) ** 2;
  const N = n / dispersion([...values, 0, 1]);
  const centre = (m + z2 / (2 * N)) / (1 + z2 / N);
  const half = Math.sqrt((z2 * m * (1 - m)) / N + (z2 / (2 * N)) ** 2) / (1 + z2 / N);
  return { value: m, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** Variance over that of a coin of the same mean: at most 1. */
function dispersion(values: readonly number[]): number {
  const m = mean(values);
  const variance = mean(values.map((value) => (value - m) ** 2));
  return Math.min(1, variance / (m * (1 - m)));
}
