// A rollout with what its grader says of it.
import type { Reward } from '../rewards/reward.ts';
import type { Rollout } from './rollout.ts';

export interface Graded {
  readonly rollout: Rollout;
  readonly outcome: Reward;
  /** null: unscored. */
  readonly reward: number | null;
}
