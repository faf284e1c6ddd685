// Rewards of a batch: every rollout graded by itself or beside its group, all at once. An unscored one (our fault) has no reward; an
// invalid one (the answer's own fault) gets its grader's value for it.
import type { Task } from '../../api/contract/task.ts';
import type { Means } from '../rewards/means.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Verifier } from '../rewards/verifier.ts';
import { BatchGrading } from './batch-grading.ts';
import type { Graded } from './graded.ts';
import type { GradingPlace, OutagePolicy } from './outage.ts';
import type { Rollout } from './rollout.ts';

/** What rewards take beside rows and answers. */
export interface Grading {
  readonly means: Means;
  readonly outage: OutagePolicy;
}

/** The groups of `tasks_P`, graded; waits out an outage of the grader. Throws RewardUnavailable. */
export async function gradeGroups(
  grader: Verifier,
  tasks_P: readonly Task[],
  rollouts_PG: readonly (readonly Rollout[])[],
  place: GradingPlace,
  outage: OutagePolicy,
): Promise<Graded[][]> {
  const grading = new BatchGrading(place, outage);
  rollouts_PG.forEach((group, p) => {
    const gradeOf = gradingOf(grader, tasks_P[p]!, group.length);
    group.forEach((rollout, g) => {
      const sameAs = grader.isDeterministic ? JSON.stringify([p, rollout.text]) : undefined;
      grading.begin(p, g, { rollout, grade: () => gradeOf(g, rollout.text), sameAs });
    });
  });
  return await grading.end();
}

/** How the answers of one group of `size` are graded: each by itself, or beside the others. */
export function gradingOf(
  grader: Verifier,
  task: Task,
  size: number,
): (index: number, response: string) => Promise<Reward> {
  const group = grader.group?.(task, size);
  return (index, response) => group?.grade(index, response) ?? grader.grade(task, response);
}
