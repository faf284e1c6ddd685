// How much two evaluations of the same tasks differ, task by task. The same tasks and the same draws make the difference far less
// noisy than either evaluation: that is why a gate compares pairs and not two means.
import type { DrawKey } from '../../engine/random/draws.ts';
import { mean } from '../mean.ts';
import { bootstrapInterval } from './bootstrap.ts';
import type { Interval } from './interval.ts';

export interface Drop extends Interval {
  /** Scored both times: what was compared. */
  readonly tasks: number;
}

type Values = readonly (number | null)[];

/**
 * Mean of `before - now` over tasks scored both times, and its bootstrap interval. Resampled with them are two tasks more, one that
 * lost and one that gained as much as any did (Bonett and Price 2012 for paired proportions): a handful of tasks that
 * happen to agree is no proof. Undefined where no task was scored both times.
 */
export function pairedDrop(before: Values, now: Values, key: DrawKey, confidence: number): Drop | undefined {
  if (before.length !== now.length)
    throw new Error(`internal: ${before.length} tasks compared with ${now.length}`);
  const drops = before.flatMap((value, task) => {
    const later = now[task]!;
    return value === null || later === null ? [] : [value - later];
  });
  if (drops.length === 0) return undefined;
  const largest = drops.reduce((most, drop) => Math.max(most, Math.abs(drop)), 0);
  const { low, high } = bootstrapInterval([...drops, largest, -largest], key, confidence);
  return { value: mean(drops), low, high, tasks: drops.length };
}
