// Rewards of a batch: every rollout graded by itself or beside its group, all at once. An unscored one (our fault) has no reward; an invalid one (the
// answer's own fault) gets the stage's value for it.
import type { Task } from '../../api/contract/task.ts';
import type { Means } from '../rewards/means.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Verifier } from '../rewards/verifier.ts';
import { outlastOutage } from './outage.ts';
import type { GradingPlace, OutagePolicy } from './outage.ts';
import type { Rollout } from './rollout.ts';

/** What rewards take beside rows and answers. */
export interface Grading {
  readonly means: Means;
  readonly outage: OutagePolicy;
}

export interface Graded {
  readonly rollout: Rollout;
  readonly outcome: Reward;
  /** null: unscored. */
  readonly reward: number | null;
}

/** The groups of `tasks_P`, graded; waits out an outage of the grader. Throws RewardUnavailable. */
export async function gradeGroups(
  grader: Verifier,
  tasks_P: readonly Task[],
  rollouts_PG: readonly (readonly Rollout[])[],
  place: GradingPlace,
  outage: OutagePolicy,
): Promise<Graded[][]> {
  const ask = new Map(rollouts_PG.flatMap((group, p) => [...gradesOf(grader, tasks_P[p]!, group)]));
  const grade = async (rollout: Rollout): Promise<Graded> => {
    const outcome = await ask.get(rollout)!();
    outage.alive();
    return { rollout, outcome, reward: rewardOf(outcome) };
  };
  const first = await Promise.all(rollouts_PG.flat().map(grade));
  const graded = await outlastOutage(first, ({ rollout }) => grade(rollout), place, outage);
  let at = 0;
  return rollouts_PG.map((group) => graded.slice(at, (at += group.length)));
}

/** How each rollout of a group is graded: by itself, or beside the others. */
export function gradesOf(
  grader: Verifier,
  task: Task,
  rollouts_G: readonly Rollout[],
): Map<Rollout, () => Promise<Reward>> {
  const group = grader.group?.(task, rollouts_G.length);
  return new Map(
    rollouts_G.map((rollout, g) => [
      rollout,
      () => group?.grade(g, rollout.text) ?? grader.grade(task, rollout.text),
    ]),
  );
}

function rewardOf(outcome: Reward): number | null {
  return outcome.status === 'unscored' ? null : outcome.value;
}
