// What a teacher says of answers of the policy, and what the policy itself said of them in the pass that learnt from it.
import type { Scores } from '../../engine/learner/token-scores.ts';
import type { Scorer } from '../../engine/learner/scorer.ts';
import type { WeightedSequence } from '../../engine/learner/micro-batches.ts';
import type { Learner } from '../../engine/learner/learner.ts';
import { UnfitWeights } from '../../engine/models/parameters.ts';
import type { Answer } from './answers.ts';

/** An answer that is learnt from. */
export interface Pupil extends Answer {
  /** A token of it has the so many-th part of the loss (`partsOf`, ../objective.ts). */
  readonly parts: number;
}

/** Log-probabilities of the response's tokens, [T], at the temperature. */
export interface Taught extends Pupil {
  readonly teacher_T: Float32Array;
  readonly policy_T: Float32Array;
  /** Of whole distributions, where the objective compares them. */
  readonly divergence_T?: Float32Array;
}

/** One teacher's, whose gradient has been added to the learner's. */
export interface Lesson extends Pick<Scores, 'meanEntropy' | 'plan'> {
  /** In the order of the pupils. */
  readonly taught: readonly Taught[];
}

export interface Classroom {
  readonly learner: Pick<Learner, 'forwardBackward' | 'diverge'>;
  readonly temperature: number;
  /** Seconds of the teacher alone are given to it. */
  readonly teaching: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** A teacher's whole part in a step. Throws UnfitWeights where it gives no probabilities. */
export type Teach = (
  classroom: Classroom,
  teacher: { readonly name: string; readonly scorer: Scorer },
  pupils: readonly Pupil[],
) => Promise<Lesson>;

/** The tokens of a response, of those of a whole sequence. */
export const ofResponse = (values: Float32Array, { scoredFrom = 0 }: WeightedSequence): Float32Array =>
  values.subarray(scoredFrom);

/** What is no number must not reach the weights: the policy would be blamed for it. */
export function checkTeacher(name: string, logProbs: readonly Float32Array[]): void {
  if (logProbs.some((values) => values.some((value) => !Number.isFinite(value))))
    throw new UnfitWeights(
      `teacher ${name} gives no probability for a token of the policy's answers: its weights are no numbers, or overflow. Name another`,
    );
}
