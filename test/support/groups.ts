// Graded groups for tests of what a step makes of them.
import type { GradedGroup } from '../../runner/cascade/rl/group.ts';
import type { Graded } from '../../runner/cascade/graded.ts';
import { scored, unscored } from '../../runner/rewards/reward.ts';

/** null: unscored. */
export const gradedAs = (value: number | null, text = ''): Graded => ({
  rollout: {
    prompt: Int32Array.of(1),
    response: Int32Array.of(1),
    logProbs: Float32Array.of(-1),
    truncated: false,
    text,
  },
  outcome: value === null ? unscored('sandbox_down') : scored(value),
  reward: value,
});

export const groupOf = (
  given: Pick<GradedGroup, 'source' | 'task' | 'mode'>,
  values_G: readonly (number | null)[],
): GradedGroup => ({ ...given, rollouts_G: values_G.map((value) => gradedAs(value)) });
