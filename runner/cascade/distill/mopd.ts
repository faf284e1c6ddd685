// The weight of a sampled token by its teacher (MOPD: Nemotron-Cascade 2, arXiv 2603.19220, Eq. 2-4). With all probabilities at the sampling
// temperature and untruncated,
//   a_t   = log pi_teacher - log pi_train                                     (Eq. 2)
//   rho_t = pi_train / pi_sampler; outside [lowest, highest], edges within, the token is dropped, not clamped   (Eq. 3)
//   loss  = - mean over sequences of 1/|V| sum over V of sg[rho_t a_t] log pi_train                             (Eq. 4)
// so the ascent weight of a token is rho_t a_t over its normalizer (../objective.ts): dropped tokens stay in the count. Options beyond the
// paper: `clip` clamps rho instead (truncated importance sampling), a_t clipped, a reward added to it. Pure arithmetic.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';

export type PolicyGradient = Extract<ExpandedDistillStage['objective'], { type: 'policy_gradient' }>;

/** Of one token, in nats. */
export interface TokenLogProbs {
  /** Of the policy: in the trainer, and in the sampler that drew the token. */
  readonly train: number;
  readonly sampler: number;
  readonly teacher: number;
}

export interface TokenWeight {
  /** What the token is worth: a_t, clipped, and the reward's part. */
  readonly advantage: number;
  /** Is its ratio outside? */
  readonly gated: boolean;
  /** Before it is normalized, the advantage times the ratio that counts: exactly 0 of a token that is dropped. */
  readonly weight: number;
}

/** `reward`: the group-normalised reward of the token's rollout; 0 where there is none. */
export function tokenWeight(
  { ratio: { lowest, highest, outside }, advantage_clip: clip = Infinity, reward_weight }: PolicyGradient,
  { train, sampler, teacher }: TokenLogProbs,
  reward: number,
): TokenWeight {
  const rho = Math.exp(train - sampler);
  // What is no number is not outside: it must reach the gradient, where it is found.
  const gated = rho < lowest || rho > highest;
  const advantage = clamp(teacher - train, -clip, clip) + reward_weight * reward;
  if (gated && outside === 'drop') return { advantage, gated, weight: 0 };
  return { advantage, gated, weight: clamp(rho, lowest, highest) * advantage };
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);
