// Two verifiers of one answer: what it is worth, and beside it how much a reward model likes it. The value stays the first's; what
// the group makes of both is decided where groups are known (runner/cascade/rl/reward-model-bonus.ts).
import type { Task } from '../../api/contract/task.ts';
import type { Reward } from './reward.ts';
import { scored } from './reward.ts';
import type { Verifier } from './verifier.ts';

/** Names of the parts that both scores are given under. */
const INSTRUCTIONS = 'instructions';
export const PREFERENCE = 'preference';

/**
 * Unscored where either side is, except that an invalid answer is that, whatever the reward model makes of it. Both are given the
 * response whole, and judge what stands after the thinking.
 */
export const withPreference = (verifier: Verifier<Task>, preference: Verifier<Task>): Verifier<Task> => ({
  ...verifier,
  isDeterministic: false,
  grade: async (task, response): Promise<Reward> => {
    // At once: a reward model takes together what comes within one turn of the event loop.
    const [worth, liking] = await Promise.all([
      verifier.grade(task, response),
      preference.grade(task, response),
    ]);
    if (worth.status !== 'scored') return worth;
    if (liking.status !== 'scored') return liking;
    const { value, parts, detail } = worth;
    return scored(value, { ...parts, [INSTRUCTIONS]: value, [PREFERENCE]: liking.value }, detail);
  },
});
