// Learning from a teacher by what it says of the sampled tokens alone: it scores the rollouts once, then one forward and one backward
// of the policy, whose weights are of that very forward (mopd.ts).
import type { Weigh } from '../../engine/learner/token-scores.ts';
import { weightedSequence } from '../objective.ts';
import { tokenWeight } from './mopd.ts';
import type { PolicyGradient, TokenWeight } from './mopd.ts';
import { checkLogProbs, ofResponse } from './teacher-batch.ts';
import type { DistilledRollout, ForwardBackward, TrainedRollout } from './teacher-batch.ts';

export const policyGradient =
  (objective: PolicyGradient): ForwardBackward =>
  async ({ learner, temperature, timedTeacher }, { teacher, rollouts }, scorer) => {
    const sequences = rollouts.map(({ rollout }) => weightedSequence(rollout, () => 0));
    const { logProbs } = await timedTeacher(() => scorer.score(sequences, { temperature }));
    checkLogProbs(teacher, logProbs);
    const teacherLogProbs = logProbs.map((values, i) => ofResponse(values, sequences[i]!));
    const weigh: Weigh = (i, at, train) => {
      const one = rollouts[i]!;
      const t = at - one.rollout.prompt.length;
      const { weight } = weightOf(objective, one, t, { train, teacher: teacherLogProbs[i]![t]! });
      return weight / one.normalizer;
    };
    const scores = await learner.forwardBackward(sequences, { temperature, weigh });
    const distilled = rollouts.map((one, i) => ({
      ...one,
      teacherLogProbs_T: teacherLogProbs[i]!,
      policyLogProbs_T: ofResponse(scores.logProbs[i]!, sequences[i]!),
    }));
    return { ...scores, distilled };
  };

const weightOf = (
  objective: PolicyGradient,
  { rollout, reward }: TrainedRollout,
  t: number,
  logProbs: { readonly train: number; readonly teacher: number },
): TokenWeight => tokenWeight(objective, { ...logProbs, sampler: rollout.logProbs[t]! }, reward);

/** Of token `t` of the response, as it was learnt from. */
export const weightAt = (objective: PolicyGradient, distilled: DistilledRollout, t: number): TokenWeight =>
  weightOf(objective, distilled, t, {
    train: distilled.policyLogProbs_T[t]!,
    teacher: distilled.teacherLogProbs_T[t]!,
  });
