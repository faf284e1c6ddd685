// Learning from a teacher by its whole distribution at every position of the policy's own rollouts: the learner runs the teacher beside
// itself and takes the gradient of the divergence. Nothing depends on which token was drawn, so there is no ratio and no gate.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import { weightedSequence } from '../objective.ts';
import { checkLogProbs, ofResponse } from './teacher-batch.ts';
import type { ForwardBackward } from './teacher-batch.ts';

type Divergence = Extract<ExpandedDistillStage['objective'], { type: 'divergence' }>;

/** What the teacher takes is not told apart: it is in `time_train`. */
export const divergence =
  ({ beta, top_k: topK }: Divergence): ForwardBackward =>
  async ({ learner, temperature }, { teacher, rollouts }, scorer) => {
    const sequences = rollouts.map(({ rollout, normalizer }) =>
      weightedSequence(rollout, () => 1 / normalizer),
    );
    const scores = await learner.diverge(sequences, scorer, { beta, topK, temperature });
    checkLogProbs(teacher, scores.teacherLogProbs);
    const distilled = rollouts.map((one, i) => ({
      ...one,
      teacherLogProbs_T: ofResponse(scores.teacherLogProbs[i]!, sequences[i]!),
      policyLogProbs_T: ofResponse(scores.logProbs[i]!, sequences[i]!),
      divergences_T: ofResponse(scores.divergences[i]!, sequences[i]!),
    }));
    return { ...scores, distilled };
  };
