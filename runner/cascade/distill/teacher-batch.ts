// The rollouts of a step that one teacher scores: what goes in, what comes out, and what an objective is to the step.
// T: tokens of a response.
import type { Scores } from '../../engine/learner/token-scores.ts';
import type { Scorer } from '../../engine/learner/scorer.ts';
import type { WeightedSequence } from '../../engine/learner/micro-batches.ts';
import type { Learner } from '../../engine/learner/learner.ts';
import { UnfitWeights } from '../../engine/models/parameters.ts';
import type { SampledRollout } from './rollouts.ts';

/** A rollout that is learnt from. */
export interface TrainedRollout extends SampledRollout {
  /** By which the weight of each of its tokens is divided (`normalizersOf`, ../objective.ts). */
  readonly normalizer: number;
}

/** Log-probabilities of the response's tokens, [T], at the temperature. */
export interface DistilledRollout extends TrainedRollout {
  readonly teacherLogProbs_T: Float32Array;
  /** Of the very forward that the gradient is of. */
  readonly policyLogProbs_T: Float32Array;
  /** Of whole distributions, nats, where the objective compares them. */
  readonly divergences_T?: Float32Array;
}

export interface TeacherBatch {
  readonly teacher: string;
  readonly rollouts: readonly TrainedRollout[];
}

/** What is known of rollouts whose gradient has been added to the learner's. */
export interface DistilledBatch extends Pick<Scores, 'meanEntropy' | 'plan'> {
  /** In the order of the batch. */
  readonly distilled: readonly DistilledRollout[];
}

export interface DistillPass {
  readonly learner: Pick<Learner, 'forwardBackward' | 'diverge'>;
  readonly temperature: number;
  /** Does work that is the teacher's alone: its seconds are counted apart. */
  readonly timedTeacher: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * An objective: has the teacher score the rollouts and adds the gradient of their loss to the learner's. Throws UnfitWeights where the
 * teacher gives no probabilities.
 */
export type ForwardBackward = (
  pass: DistillPass,
  batch: TeacherBatch,
  scorer: Scorer,
) => Promise<DistilledBatch>;

/** The tokens of a response, of those of a whole sequence. */
export const ofResponse = (values: Float32Array, { scoredFrom = 0 }: WeightedSequence): Float32Array =>
  values.subarray(scoredFrom);

/** What is no number must not reach the weights: the policy would be blamed for it. */
export function checkLogProbs(teacher: string, logProbs: readonly Float32Array[]): void {
  if (logProbs.some((values) => values.some((value) => !Number.isFinite(value))))
    throw new UnfitWeights(
      `teacher ${teacher} gives no probability for a token of the policy's answers: its weights are no numbers, or overflow. Name another`,
    );
}
