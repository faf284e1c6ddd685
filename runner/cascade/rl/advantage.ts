// GRPO's group-normalised advantage (Nemotron-Cascade Eq. 1), with what the paper leaves open decided as follows:
//  1. sample standard deviation (n - 1), as verl's torch.std;
//  2. A = 0 where std < 1e-6, else (r - mean) / (std + 1e-6): rounding noise is never blown up to a signal;
//  3. an unscored rollout (our fault, reward null) enters neither mean nor std and has no advantage;
//  4. a group with fewer than two scored rollouts is dropped whole.
// G: rollouts of one group.
import { mean, sum } from '../mean.ts';

/** Below it a group has no variance: every advantage in it is 0. */
export const MIN_STD = 1e-6;

export interface GroupAdvantage {
  /** null: the rollout is in neither the loss nor N. */
  readonly advantages_G: readonly (number | null)[];
  /** Of the scored rewards; null in a dropped group. */
  readonly mean: number | null;
  readonly std: number | null;
}

interface Statistics {
  readonly mean: number;
  readonly std: number;
}

/** Mean and sample standard deviation; undefined for fewer than two values. */
function statisticsOf(values: readonly number[]): Statistics | undefined {
  if (values.length < 2) return undefined;
  // Of large equal values the sum, and so the mean, is rounded: none of them may stand apart from it.
  if (values.every((value) => value === values[0])) return { mean: values[0]!, std: 0 };
  const centre = mean(values);
  const squares = sum(values.map((value) => (value - centre) ** 2));
  return { mean: centre, std: Math.sqrt(squares / (values.length - 1)) };
}

/**
 * (value - mean) / std within a group, over what is not null; 0 where there is no variance, and for a single value. Not an
 * advantage: these go into functions that level off, so nothing is added to std.
 */
export function standardScores(values_G: readonly (number | null)[]): (number | null)[] {
  const statistics = statisticsOf(values_G.filter((value) => value !== null));
  if (statistics === undefined || statistics.std < MIN_STD)
    return values_G.map((value) => (value === null ? null : 0));
  return values_G.map((value) => (value === null ? null : (value - statistics.mean) / statistics.std));
}

/** Advantages of one group from its rewards; null marks an unscored rollout. */
export function groupAdvantage(rewards_G: readonly (number | null)[]): GroupAdvantage {
  const statistics = statisticsOf(rewards_G.filter((reward) => reward !== null));
  if (statistics === undefined) return { advantages_G: rewards_G.map(() => null), mean: null, std: null };
  const { std } = statistics;
  const advantage = (reward: number) => (std < MIN_STD ? 0 : (reward - statistics.mean) / (std + MIN_STD));
  return {
    advantages_G: rewards_G.map((reward) => (reward === null ? null : advantage(reward))),
    ...statistics,
  };
}
