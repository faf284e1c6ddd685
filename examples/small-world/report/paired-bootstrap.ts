// The interval of a mean of paired differences: tasks drawn again with replacement, the mean of each draw, and the middle 95 % of these
// means (percentile bootstrap, Efron and Tibshirani 1993, chapter 13). Draws are keyed, so the same differences always give the same
// interval.
import { drawKey } from '../../../runner/engine/random/draws.ts';
import { philox } from '../../../runner/engine/random/philox.ts';

const resamples = 2000;
const tail = 0.025;
const { words } = drawKey(0, 'small-world/paired-bootstrap', 0);

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** `differences`: after less before, one a task. At least one. */
export function pairedBootstrap(differences: readonly number[]): Interval {
  if (differences.length === 0) throw new Error('no task was scored both before and after');
  const means = Array.from({ length: resamples }, (_, at) => resampledMean(differences, at)).sort(
    (a, b) => a - b,
  );
  return {
    mean: mean(differences),
    low: means[Math.floor(tail * (resamples - 1))]!,
    high: means[Math.ceil((1 - tail) * (resamples - 1))]!,
  };
}

function resampledMean(values: readonly number[], resample: number): number {
  let sum = 0;
  for (let first = 0; first < values.length; first += 4) {
    const drawn = philox(words, [resample, first, 0, 0]);
    for (const word of drawn.slice(0, values.length - first))
      sum += values[Math.floor(((word >>> 0) / 2 ** 32) * values.length)]!;
  }
  return sum / values.length;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
