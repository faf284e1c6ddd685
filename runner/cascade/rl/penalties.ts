// What changes the rewards of a batch between grading and advantages, in this order: the reward model's bonus, which makes the
// grader's reward whole; group-relative length control, the overlong policy, and language mixing, which has the last word among
// penalties: else an answer could buy itself out of it by running too long. Shaping comes after all: their values are published
// for rewards as graded (a zero among shaped rewards would be the group's mean), and an outlier that one of them makes must not
// drown the rest.
// Each is a pure function of the batch. An unscored rollout keeps its null, one that is out of the loss stays out.
// P: prompts of a step, G: rollouts of a group.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import type { Phase } from '../../../api/contract/stages/phase.ts';
import type { LanguageMixing } from '../../../api/contract/stages/reinforced.ts';
import type { Prompt } from '../../../api/contract/task.ts';
import { answerPart } from '../../rewards/answer-part.ts';
import { mixesLanguages } from '../../rewards/language-mixing.ts';
import type { Graded } from '../graded.ts';
import { lengthControl } from './length-control.ts';
import type { PartLengths } from './length-control.ts';
import { applyOverlong } from './overlong.ts';
import { rewardModelBonus } from './reward-model-bonus.ts';
import { tanhShaped } from './shaping.ts';

/** A graded rollout with the reward that the update sees. */
export interface Penalised extends Graded {
  /** false: its tokens enter neither the loss nor N, though its reward stays in mean and std. */
  readonly inLoss: boolean;
  /** By name what was added to the grader's reward; a penalty that did not touch this rollout is absent. */
  readonly penalties: Readonly<Record<string, number>>;
}

export interface PenaltyPolicy
  extends
    Pick<Phase, 'overlong' | 'max_response'>,
    Pick<ExpandedReinforcedStage, 'length_control' | 'shaping'> {
  readonly language_mixing: LanguageMixing;
  /** Has a reward model scored the answers beside the grader? */
  readonly preferred: boolean;
}

/** The n-th group answers the n-th prompt. */
export function applyPenalties(
  policy: PenaltyPolicy,
  prompts_P: readonly Prompt[],
  graded_PG: readonly (readonly Graded[])[],
): Penalised[][] {
  const plain = graded_PG.map((graded_G) =>
    graded_G.map((graded) => ({ ...graded, inLoss: true, penalties: {} })),
  );
  const whole = policy.preferred ? plain.map(withBonus) : plain;
  const controlled = policy.length_control === 'off' ? whole : whole.map(lengthControlled);
  const ended = controlled.map((group) => group.map((rollout) => overlongPenalised(policy, rollout)));
  const { language_mixing } = policy;
  const unmixed = language_mixing === 'off' ? ended : mixingPenalised(language_mixing, prompts_P, ended);
  return policy.shaping === 'off' ? unmixed : unmixed.map(shaped);
}

function withBonus(group: readonly Penalised[]): Penalised[] {
  const bonus_G = rewardModelBonus(group);
  return group.map((rollout, g) =>
    withReward(rollout, bonus_G[g] === null ? null : rollout.reward! + bonus_G[g]!, 'reward_model'),
  );
}

function shaped(group: readonly Penalised[]): Penalised[] {
  const rewards_G = tanhShaped(group.map(({ reward }) => reward));
  return group.map((rollout, g) => withReward(rollout, rewards_G[g]!, 'shaping'));
}

function lengthControlled(group: readonly Penalised[]): Penalised[] {
  const rewards_G = lengthControl(
    group.map(({ reward }) => reward),
    group.map(({ rollout }) => partLengths(rollout.text)),
  );
  return group.map((rollout, g) => withReward(rollout, rewards_G[g]!, 'length_control'));
}

/** In characters. */
function partLengths(text: string): PartLengths {
  const answer = answerPart(text);
  if (answer === undefined) return { think: text.length, answer: null };
  return { think: answer === text ? null : text.length - answer.length, answer: answer.length };
}

function overlongPenalised(policy: PenaltyPolicy, penalised: Penalised): Penalised {
  const { reward, rollout } = penalised;
  if (reward === null) return penalised;
  const { overlong, max_response } = policy;
  const outcome = applyOverlong(overlong, reward, rollout.response.length, rollout.truncated, max_response);
  return { ...withReward(penalised, outcome.reward, 'overlong'), inLoss: outcome.inLoss };
}

/** RLHF's rule: far below whatever else the batch holds. */
const BELOW_MINIMUM = 10;

/**
 * What a mixed rollout is worth, for a batch with these rewards: Cascade 1 gives 0 in code RL, -1 in math RL, and in RLHF 10
 * less than the lowest reward of the batch, the mixed ones' own included.
 */
const mixedReward: Readonly<Record<Exclude<LanguageMixing, 'off'>, (rewards: readonly number[]) => number>> =
  {
    zero: () => 0,
    minus_one: () => -1,
    batch_minimum: (rewards) =>
      rewards.reduce((least, reward) => Math.min(least, reward), Infinity) - BELOW_MINIMUM,
  };

function mixingPenalised(
  rule: Exclude<LanguageMixing, 'off'>,
  prompts_P: readonly Prompt[],
  groups_P: readonly (readonly Penalised[])[],
): Penalised[][] {
  const rewards = groups_P.flat().flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const value = mixedReward[rule](rewards);
  return groups_P.map((group, p) =>
    group.map((rollout) => {
      if (rollout.reward === null || !mixesLanguages(prompts_P[p]!, rollout.rollout.text)) return rollout;
      const { penalties } = rollout;
      return {
        ...rollout,
        reward: value,
        penalties: { ...penalties, language_mixing: value - rollout.reward },
      };
    }),
  );
}

/** The rollout with another reward, and what made it so where it is another. */
function withReward(rollout: Penalised, reward: number | null, name: string): Penalised {
  if (reward === null || rollout.reward === null || reward === rollout.reward) return rollout;
  return { ...rollout, reward, penalties: { ...rollout.penalties, [name]: reward - rollout.reward } };
}
