// From a grader object to the verifier that scores. The one place that knows every grader by name.
import type { Grader } from '../../api/contract/grader.ts';
import type { MathRow, Task } from '../../api/contract/task.ts';
import { createJudge, reached, rewardModel } from './endpoints.ts';
import { exactReward } from './exact.ts';
import { instructionsVerifier } from './instructions.ts';
import { judgeVerifier } from './judge/judge.ts';
import { mathReward } from './math.ts';
import type { Means } from './means.ts';
import { preferenceVerifier } from './preference.ts';
import { prefixMaximum, prefixReward } from './prefix.ts';
import { remoteVerifier } from './remote.ts';
import type { Reward } from './reward.ts';
import { sweVerifier } from './swe.ts';
import type { Verifier } from './verifier.ts';

type Score = (gold: string, response: string) => Reward;

const ofAnswer = (score: Score, maximum: (gold: string) => number): Verifier<MathRow> => ({
  grade: async (task, response) => score(task.answer, response),
  maxScore: (task) => maximum(task.answer),
  goldResponse: (task) => task.answer,
});

/** Grades only rows of the kinds that `kindsGradedBy` lists for it. @throws MissingSecret. */
export function createGrader(grader: Grader, means: Means = {}): Verifier<Task> {
  switch (grader.type) {
    case 'exact':
      return ofAnswer(exactReward, () => 1) as Verifier<Task>;
    case 'prefix':
      return ofAnswer(prefixReward, prefixMaximum) as Verifier<Task>;
    case 'math':
      return ofAnswer(mathReward, () => 1) as Verifier<Task>;
    case 'swe':
      return sweVerifier as Verifier<Task>;
    case 'instructions':
      return instructionsVerifier(grader) as Verifier<Task>;
    case 'code':
      throw new Error(`no verifier for grader ${grader.type} yet`);
    case 'preference':
      return preferenceVerifier(rewardModel(grader, means));
    case 'remote':
      return remoteVerifier(grader, reached(grader, means));
    case 'judge':
      return judgeVerifier(grader, createJudge(grader, means));
  }
}
