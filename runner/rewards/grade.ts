// From a grader object to the verifier that scores. The one place that knows every grader by name.
import type { Grader } from '../../api/contract/grader.ts';
import type { MathRow, Task } from '../../api/contract/task.ts';
import { codeVerifier } from './code.ts';
import { exactReward } from './exact.ts';
import { mathVerifier } from './math.ts';
import type { Means } from './means.ts';
import { prefixMaximum, prefixReward } from './prefix.ts';
import type { Reward } from './reward.ts';
import type { Verifier } from './verifier.ts';

type Score = (gold: string, response: string) => Reward;

const ofAnswer = (score: Score, maximum: (gold: string) => number): Verifier<MathRow> => ({
  grade: async (task, response) => score(task.answer, response),
  maxScore: (task) => maximum(task.answer),
  goldResponse: (task) => task.answer,
});

/** Grades only rows of the kinds that `gradedKinds` lists for it. */
export function createGrader(grader: Grader, means: Means): Verifier<Task> {
  switch (grader.type) {
    case 'exact':
      return ofAnswer(exactReward, () => 1) as Verifier<Task>;
    case 'prefix':
      return ofAnswer(prefixReward, prefixMaximum) as Verifier<Task>;
    case 'math':
      return mathVerifier(means.math) as Verifier<Task>;
    case 'code':
      return codeVerifier(means.sandbox, grader.language) as Verifier<Task>;
    case 'instructions':
    case 'swe':
      throw new Error(`no verifier for grader ${grader.type} yet`);
  }
}
