// Which rollouts of a step are kept to be looked at, chosen as those of RL are, with how far each is from its teacher.
import { mean } from '../mean.ts';
import { chosenOf, sampledFields } from '../rl/samples.ts';
import type { StepSample } from '../stage-run.ts';
import { klOf } from './metrics.ts';
import type { DistillStepOptions } from './options.ts';
import { weightAt } from './policy-gradient.ts';
import type { SampledGroup } from './rollouts.ts';
import type { DistilledRollout } from './teacher-batch.ts';

export function distilledSamples(
  { stage: { objective }, samplesPerStep }: Pick<DistillStepOptions, 'stage' | 'samplesPerStep'>,
  groups_P: readonly SampledGroup[],
  distilled: readonly DistilledRollout[],
): StepSample[] {
  const distilledOf = new Map(distilled.map((one) => [one.rollout, one]));
  return chosenOf(groups_P, samplesPerStep).map(({ group, g }) =>
    sample(objective, group, g, distilledOf.get(group.rollouts_G[g]!)),
  );
}

/** `advantage`: mean of its tokens; null of a rollout that is not learnt from, or whose tokens have none. */
function sample(
  objective: DistillStepOptions['stage']['objective'],
  group: SampledGroup,
  g: number,
  distilled: DistilledRollout | undefined,
): StepSample {
  const rollout = group.rollouts_G[g]!;
  const advantage =
    distilled === undefined || objective.type !== 'policy_gradient'
      ? null
      : mean([...distilled.policyLogProbs_T.keys()].map((t) => weightAt(objective, distilled, t).advantage));
  const verdict = verdictOf(group, g);
  return {
    ...sampledFields(group, rollout, g),
    ...verdict,
    parts: { ...verdict.parts, ...(distilled && { kl: klOf([distilled]) }) },
    advantage,
  };
}

type Verdict = Pick<StepSample, 'status' | 'reward' | 'parts' | 'code'>;

/** Of a rollout that nobody was asked to grade `unscored`, by the code not_graded. */
function verdictOf({ judged }: SampledGroup, g: number): Verdict {
  const one = judged?.rollouts_G[g];
  if (one === undefined) return { status: 'unscored', reward: null, parts: {}, code: 'not_graded' };
  const { outcome, reward } = one;
  return outcome.status === 'scored'
    ? { status: 'scored', reward, parts: outcome.parts, code: null }
    : { status: outcome.status, reward, parts: {}, code: outcome.code };
}
