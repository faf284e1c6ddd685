// What a reward model adds to instruction following (Nemotron-Cascade, section 4.4): an answer that follows every instruction is
// worth R_IF + sigmoid of its score normalised within the group, every other 0; so rewards are 0 or between 1 and 2.
//
// What the paper leaves open is decided as follows:
//  1. the group's mean and sample deviation (n - 1) are of all answers that the model scored, those that follow nothing included;
//  2. where the deviation is below 1e-6, and for a single score, the normalised score is 0: the bonus is 1/2;
//  3. an answer without a score (unscored by either side, or never given) enters neither mean nor deviation.
// The scores come with the rewards: runner/rewards/with-preference.ts. G: rollouts of a group.
import { PREFERENCE } from '../../rewards/with-preference.ts';
import type { Graded } from '../graded.ts';
import { standardScores } from './advantage.ts';

/** R_IF of an answer that follows everything. */
const FOLLOWED = 1;

/** What to add to each reward of a group that a reward model has scored, too; null where there is nothing to add it to. */
export function rewardModelBonus(group_G: readonly Graded[]): (number | null)[] {
  const scores_G = standardScores(group_G.map(preferenceOf));
  return group_G.map(({ reward }, g) => {
    const score = scores_G[g]!;
    if (reward === null) return null;
    return reward === FOLLOWED && score !== null ? sigmoid(score) : -reward;
  });
}

const preferenceOf = ({ outcome }: Graded): number | null =>
  outcome.status === 'scored' ? (outcome.parts[PREFERENCE] ?? null) : null;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
