// The math verifier as the tests ask it.
import { mathVerifier } from '../../../runner/rewards/math.ts';
import type { Reward } from '../../../runner/rewards/reward.ts';
import { means } from '../../support/means.ts';

const verifier = mathVerifier(means.math);

export const rewardOf = (gold: string, response: string): Promise<Reward> =>
  verifier.grade({ prompt: 'p', answer: gold }, response);

/** What a stage would count: an invalid answer is worth 0. Our own outage is an error, never a number. */
export async function valueOf(gold: string, response: string): Promise<number> {
  const reward = await rewardOf(gold, response);
  if (reward.status === 'unscored') throw new Error(`unscored: ${reward.detail ?? reward.code}`);
  return reward.value;
}
