// From a grader object to the function that scores. The one place that knows every grader by name.
import type { Grader } from '../../api/contract/grader.ts';
import type { MathRow } from '../../api/contract/task.ts';
import { exactReward } from './exact.ts';
import { mathReward } from './math.ts';
import { prefixMaximum, prefixReward } from './prefix.ts';
import type { Reward } from './reward.ts';

export interface TaskGrader {
  /** `response` is the answer's text without the end-of-sequence token. Never throws for what a model wrote. */
  grade(task: MathRow, response: string): Promise<Reward>;
  /** What the task's own gold is worth; nothing scores higher. */
  maxScore(task: MathRow): number;
}

type Score = (gold: string, response: string) => Reward;

const scores: Readonly<Record<Grader['type'], { score: Score; maximum: (gold: string) => number }>> = {
  exact: { score: exactReward, maximum: () => 1 },
  prefix: { score: prefixReward, maximum: prefixMaximum },
  math: { score: mathReward, maximum: () => 1 },
};

export function createGrader(grader: Grader): TaskGrader {
  const { score, maximum } = scores[grader.type];
  return {
    grade: async (task, response) => score(task.answer, response),
    maxScore: (task) => maximum(task.answer),
  };
}
