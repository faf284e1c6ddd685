// Rewards of a group: every rollout graded by itself. An unscored one (our fault) has no reward; an invalid one (the
// answer's own fault) gets the stage's value for it.
import type { Task } from '../../api/contract/task.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Verifier } from '../rewards/verifier.ts';
import type { Rollout } from './rollout.ts';

export interface Graded {
  readonly rollout: Rollout;
  readonly outcome: Reward;
  /** null: unscored. */
  readonly reward: number | null;
}

export async function gradeGroup(
  grader: Verifier,
  task: Task,
  rollouts_G: readonly Rollout[],
): Promise<Graded[]> {
  return Promise.all(
    rollouts_G.map(async (rollout) => {
      const outcome = await grader.grade(task, rollout.text);
      return { rollout, outcome, reward: rewardOf(outcome) };
    }),
  );
}

function rewardOf(outcome: Reward): number | null {
  return outcome.status === 'unscored' ? null : outcome.value;
}
