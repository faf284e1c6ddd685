// Learning from a teacher by what it says of the sampled tokens alone: it scores the answers once, then one forward and one backward
// of the policy, whose weights are of that very forward (mopd.ts).
import type { Weigh } from '../../engine/learner/token-scores.ts';
import { weightedSequence } from '../objective.ts';
import { checkTeacher, ofResponse } from './lesson.ts';
import type { Pupil, Taught, Teach } from './lesson.ts';
import { tokenGain } from './mopd.ts';
import type { PolicyGradient, TokenGain } from './mopd.ts';

export const policyGradient =
  (objective: PolicyGradient): Teach =>
  async ({ learner, temperature, teaching }, { name, scorer }, pupils) => {
    const sequences = pupils.map(({ rollout }) => weightedSequence(rollout, () => 0));
    const { logProbs: teacher } = await teaching(() => scorer.score(sequences, { temperature }));
    checkTeacher(name, teacher);
    const teacher_N = teacher.map((values, i) => ofResponse(values, sequences[i]!));
    const weigh: Weigh = (i, at, train) => {
      const pupil = pupils[i]!;
      const t = at - pupil.rollout.prompt.length;
      return gainOf(objective, pupil, t, train, teacher_N[i]![t]!).gain / pupil.parts;
    };
    const scores = await learner.forwardBackward(sequences, { temperature, weigh });
    const taught = pupils.map((pupil, i) => ({
      ...pupil,
      teacher_T: teacher_N[i]!,
      policy_T: ofResponse(scores.logProbs[i]!, sequences[i]!),
    }));
    return { ...scores, taught };
  };

const gainOf = (
  objective: PolicyGradient,
  pupil: Pupil,
  t: number,
  train: number,
  teacher: number,
): TokenGain => tokenGain(objective, { train, sampler: pupil.rollout.logProbs[t]!, teacher }, pupil.reward);

/** Of token `t` of the response, as it was learnt from. */
export const gainAt = (objective: PolicyGradient, taught: Taught, t: number): TokenGain =>
  gainOf(objective, taught, t, taught.policy_T[t]!, taught.teacher_T[t]!);
