// Rewards of a group: every rollout graded by itself. An unscored one (our fault) has no reward; an invalid one (the
// answer's own fault) has the value that its grader gives it, and says why.
import type { Grader } from '../../api/contract/grader.ts';
import type { MathRow } from '../../api/contract/task.ts';
import { gradeOf } from '../rewards/grade.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Rollout } from './rollout.ts';

export interface Graded {
  readonly rollout: Rollout;
  readonly outcome: Reward;
  /** null: unscored. */
  readonly reward: number | null;
}

export function gradeGroup(grader: Grader, task: MathRow, rollouts_G: readonly Rollout[]): Graded[] {
  const grade = gradeOf(grader);
  return rollouts_G.map((rollout) => {
    const outcome = grade(task, rollout.text);
    return { rollout, outcome, reward: outcome.status === 'unscored' ? null : outcome.value };
  });
}
