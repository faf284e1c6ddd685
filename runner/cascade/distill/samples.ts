// Which answers of a step are kept to be looked at, chosen as those of RL are, with how far each is from its teacher.
import { askedMode } from '../asked-mode.ts';
import { mean } from '../mean.ts';
import { rowOf } from '../rl/group.ts';
import { chosenOf } from '../rl/samples.ts';
import type { StepSample } from '../stage-run.ts';
import type { AnsweredGroup } from './answers.ts';
import type { Taught } from './lesson.ts';
import { klOf } from './metrics.ts';
import type { DistillStep } from './options.ts';
import { gainAt } from './policy-gradient.ts';

export function distilledSamples(
  { stage: { objective }, samplesPerStep }: Pick<DistillStep, 'stage' | 'samplesPerStep'>,
  groups_P: readonly AnsweredGroup[],
  taught: readonly Taught[],
): StepSample[] {
  const taughtOf = new Map(taught.map((one) => [one.rollout, one]));
  return chosenOf(groups_P, samplesPerStep).map(({ group, g }) =>
    sample(objective, group, g, taughtOf.get(group.rollouts_G[g]!)),
  );
}

/** `advantage`: mean of its tokens; null of an answer that is not learnt from, or whose tokens have none. */
function sample(
  objective: DistillStep['stage']['objective'],
  group: AnsweredGroup,
  g: number,
  taught: Taught | undefined,
): StepSample {
  const rollout = group.rollouts_G[g]!;
  const advantage =
    taught === undefined || objective.type !== 'policy_gradient'
      ? null
      : mean([...taught.policy_T.keys()].map((t) => gainAt(objective, taught, t).advantage));
  const verdict = verdictOf(group, g);
  return {
    task: group.task,
    rollout: g,
    mode: askedMode(group.mode),
    prompt: rowOf(group).prompt,
    response: rollout.text,
    tokens: rollout.response.length,
    truncated: rollout.truncated,
    ...verdict,
    parts: { ...verdict.parts, ...(taught && { kl: klOf([taught]) }) },
    advantage,
  };
}

type Verdict = Pick<StepSample, 'status' | 'reward' | 'parts' | 'code'>;

/** Of an answer that nobody was asked to grade `unscored`, by the code not_graded. */
function verdictOf({ judged }: AnsweredGroup, g: number): Verdict {
  const one = judged?.rollouts_G[g];
  if (one === undefined) return { status: 'unscored', reward: null, parts: {}, code: 'not_graded' };
  const { outcome, reward } = one;
  return outcome.status === 'scored'
    ? { status: 'scored', reward, parts: outcome.parts, code: null }
    : { status: outcome.status, reward, parts: {}, code: outcome.code };
}
