// Shaping for weak reward models (Nemotron-Cascade, section 6.3): r' = tanh((r - mean) / std) of the group, so that no score,
// however far out, pulls by more than 1. Without variance (std < 1e-6) r' = 0. What comes out is group-normalised as any reward.
// G: rollouts of a group.
import { standardScores } from './advantage.ts';

/** null where `rewards_G` is null. */
export const tanhShaped = (rewards_G: readonly (number | null)[]): (number | null)[] =>
  standardScores(rewards_G).map((score) => (score === null ? null : Math.tanh(score)));
