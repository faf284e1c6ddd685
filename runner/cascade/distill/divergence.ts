// Learning from a teacher by its whole distribution at every position of the policy's own answers: the learner runs the teacher beside
// itself and takes the gradient of the divergence. Nothing depends on which token was drawn, so there is no ratio and no gate.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import { weightedSequence } from '../objective.ts';
import { checkTeacher, ofResponse } from './lesson.ts';
import type { Teach } from './lesson.ts';

type Divergence = Extract<ExpandedDistillStage['objective'], { type: 'divergence' }>;

/** What the teacher takes is not told apart: it is in `time_train`. */
export const divergence =
  ({ beta, top_k: topK }: Divergence): Teach =>
  async ({ learner, temperature }, { name, scorer }, pupils) => {
    const sequences = pupils.map(({ rollout, parts }) => weightedSequence(rollout, () => 1 / parts));
    const scores = await learner.diverge(sequences, scorer, { beta, topK, temperature });
    checkTeacher(name, scores.teacherLogProbs);
    const taught = pupils.map((pupil, i) => ({
      ...pupil,
      teacher_T: ofResponse(scores.teacherLogProbs[i]!, sequences[i]!),
      policy_T: ofResponse(scores.logProbs[i]!, sequences[i]!),
      divergence_T: ofResponse(scores.divergences[i]!, sequences[i]!),
    }));
    return { ...scores, taught };
  };
