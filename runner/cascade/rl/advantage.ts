// GRPO's group-normalised advantage (Nemotron-Cascade Eq. 1), with what the paper leaves open decided as follows:
//  1. sample standard deviation (n - 1), as verl's torch.std;
//  2. A = 0 where std < 1e-6, else (r - mean) / (std + 1e-6): rounding noise is never blown up to a signal;
//  3. an unscored rollout (our fault, reward null) enters neither mean nor std and has no advantage;
//  4. a group with fewer than two scored rollouts is dropped whole.
// G: rollouts of one group.

/** Below it a group has no variance: every advantage in it is 0. */
export const MIN_STD = 1e-6;

export interface GroupAdvantage {
  /** null: the rollout is in neither the loss nor N. */
  readonly advantages_G: readonly (number | null)[];
  /** Of the scored rewards; null in a dropped group. */
  readonly mean: number | null;
  readonly std: number | null;
}

/** Advantages of one group from its rewards; null marks an unscored rollout. */
export function groupAdvantage(rewards_G: readonly (number | null)[]): GroupAdvantage {
  const scored = rewards_G.filter((reward) => reward !== null);
  if (scored.length < 2) return { advantages_G: rewards_G.map(() => null), mean: null, std: null };
  const mean = sum(scored) / scored.length;
  const std = Math.sqrt(sum(scored.map((reward) => (reward - mean) ** 2)) / (scored.length - 1));
  const advantage = (reward: number) => (std < MIN_STD ? 0 : (reward - mean) / (std + MIN_STD));
  return { advantages_G: rewards_G.map((reward) => (reward === null ? null : advantage(reward))), mean, std };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
