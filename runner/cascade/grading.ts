// Rewards of a group: every rollout graded by itself. An unscored one (our fault) has no reward; an invalid one (the
// answer's own fault) gets the stage's value for it.
import type { MathRow } from '../../api/contract/task.ts';
import type { TaskGrader } from '../rewards/grade.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Rollout } from './rollout.ts';

const INVALID_REWARD = 0;

export interface Graded {
  readonly rollout: Rollout;
  readonly outcome: Reward;
  /** null: unscored. */
  readonly reward: number | null;
}

export async function gradeGroup(
  grader: TaskGrader,
  task: MathRow,
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
  if (outcome.status === 'scored') return outcome.value;
  return outcome.status === 'invalid' ? INVALID_REWARD : null;
}
