// The one line that a bench prints. Names of results are listed in docs/bench.md and never change.

import type { Provider } from '../../runner/engine/ort/runtime.ts';

export interface BenchResult {
  readonly name: string;
  /** Median of `n` measurements (or the percentile that the name says), `min` and `max` their extremes. */
  readonly value: number;
  readonly unit: string;
  readonly n: number;
  readonly min: number;
  readonly max: number;
  /** What it should reach, and below which it is a regression; null where neither is set. */
  readonly goal: number | null;
  readonly floor: number | null;
}

export interface BenchReport {
  readonly schema: 1;
  readonly bench: string;
  readonly commit: string;
  readonly cpu: string;
  readonly threads: number;
  /** Where sessions computed, and on which device; absent on the CPU. */
  readonly provider?: Provider;
  readonly device?: string;
  /** Measured on models that a slow device bears: that it runs, not how fast. */
  readonly small?: true;
  readonly results: readonly BenchResult[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function summary(
  name: string,
  unit: string,
  values: readonly number[],
  { goal = null, floor = null }: { goal?: number | null; floor?: number | null } = {},
): BenchResult {
  return {
    name,
    value: median(values),
    unit,
    n: values.length,
    min: Math.min(...values),
    max: Math.max(...values),
    goal,
    floor,
  };
}

/** The value below which the share `of` of the measurements lies, instead of their median. */
export function percentile(
  name: string,
  unit: string,
  of: number,
  values: readonly number[],
  { goal = null }: { goal?: number | null } = {},
): BenchResult {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.floor(of * (sorted.length - 1))]!;
  return { ...summary(name, unit, values, { goal }), value };
}

/** For people: one line a result. */
export function formatResults(results: readonly BenchResult[]): string {
  return results
    .map(({ name, value, unit, n, min, max, goal }) => {
      const aim = goal === null ? '' : `  goal ${goal}`;
      return `${name.padEnd(36)} ${value.toPrecision(4)} ${unit}  (${min.toPrecision(4)} to ${max.toPrecision(4)}, n ${n})${aim}`;
    })
    .join('\n');
}
