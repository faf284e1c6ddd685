// The percentile bootstrap of a mean over tasks, by named draws: the same values give the same interval everywhere.
import type { DrawKey } from '../../engine/random/draws.ts';
import { philox } from '../../engine/random/philox.ts';
import { mean } from '../mean.ts';
import type { Interval } from './interval.ts';

const RESAMPLES = 4_000;
const WORDS = 2 ** 32;

/** Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13. */
export function bootstrapInterval(values: readonly number[], key: DrawKey, confidence: number): Interval {
  const means = Float64Array.from({ length: RESAMPLES }, (_, resample) =>
    resampledMean(values, key, resample),
  ).sort();
  const outside = Math.floor(((1 - confidence) / 2) * RESAMPLES);
  return { value: mean(values), low: means[outside]!, high: means[RESAMPLES - 1 - outside]! };
}

function resampledMean(values: readonly number[], key: DrawKey, resample: number): number {
  let total = 0;
  for (let at = 0; at < values.length; at += 4) {
    const words = philox(key.words, [key.step, resample, at, 0]);
    for (let i = at; i < Math.min(at + 4, values.length); i += 1)
      total += values[Math.floor((words[i - at]! / WORDS) * values.length)]!;
  }
  return total / values.length;
}
