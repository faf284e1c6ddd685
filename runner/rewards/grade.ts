// From a grader object to the verifier that scores. The one place that knows every grader by name.
import type { Grader } from '../../api/contract/grader.ts';
import type { MathRow, Task } from '../../api/contract/task.ts';
import { codeVerifier } from './code.ts';
import { createJudge, reached, rewardModel } from './endpoints.ts';
import { exactReward } from './exact.ts';
import { isDeterministic } from './grading-kind.ts';
import { instructionsVerifier } from './instructions.ts';
import { judgePatch, judgeVerifier } from './judge/judge.ts';
import { mathVerifier } from './math.ts';
import type { Means } from './means.ts';
import { preferenceVerifier } from './preference.ts';
import { prefixMaximum, prefixReward } from './prefix.ts';
import { remoteVerifier } from './remote.ts';
import type { Reward } from './reward.ts';
import { unscored } from './reward.ts';
import { sweVerifier } from './swe.ts';
import type { Verifier } from './verifier.ts';

type Score = (gold: string, response: string) => Reward;

const ofAnswer = (score: Score, maximum: (gold: string) => number): Verifier<MathRow> => ({
  grade: async (task, response) => score(task.answer, response),
  maxScore: (task) => maximum(task.answer),
  goldResponse: (task) => task.answer,
});

/** Grades only rows of the kinds that `kindsGradedBy` lists for it. @throws MissingSecret. */
export const createGrader = (grader: Grader, means: Means): Verifier<Task> => ({
  ...guarded(verifierOf(grader, means)),
  isDeterministic: isDeterministic(grader),
});

/** A verifier does not throw and gives numbers; where it fails to, that is our fault, and costs one rollout, not the trainer. */
export const guarded = (verifier: Verifier<Task>): Verifier<Task> => {
  const { group } = verifier;
  return {
    ...verifier,
    grade: (task, response) => safely(() => verifier.grade(task, response)),
    ...(group && {
      group: (task, size) => {
        const answers = group(task, size);
        return { grade: (index, response) => safely(() => answers.grade(index, response)) };
      },
    }),
  };
};

async function safely(grade: () => Promise<Reward>): Promise<Reward> {
  try {
    const reward = await grade();
    if (isUsable(reward)) return reward;
    return unscored('verifier_down', `the verifier gave a value that is no number, or beyond ${LARGEST}`);
  } catch (error) {
    console.error(error);
    return unscored('verifier_down', `the verifier failed: ${(error as Error).message}`);
  }
}

/** Sums and squares of larger values leave float64: a group's deviation, or a suite's mean, would be infinite. */
const LARGEST = 1e100;

const isUsable = (reward: Reward): boolean =>
  reward.status === 'unscored' ||
  [reward.value, ...(reward.status === 'scored' ? Object.values(reward.parts) : [])].every(
    (value) => Math.abs(value) <= LARGEST,
  );

function verifierOf(grader: Grader, means: Means): Verifier<Task> {
  switch (grader.type) {
    case 'exact':
      return ofAnswer(exactReward, () => 1) as Verifier<Task>;
    case 'prefix':
      return ofAnswer(prefixReward, prefixMaximum) as Verifier<Task>;
    case 'math':
      return mathVerifier(means.math) as Verifier<Task>;
    case 'code':
      return codeVerifier(means.sandbox, grader.language) as Verifier<Task>;
    case 'swe':
      return sweVerifier(
        grader.judge === undefined ? undefined : judgePatch(createJudge(grader.judge, means)),
      ) as Verifier<Task>;
    case 'instructions':
      return instructionsVerifier(grader) as Verifier<Task>;
    case 'preference':
      return preferenceVerifier(rewardModel(grader, means));
    case 'remote':
      return remoteVerifier(grader, reached(grader, means));
    case 'judge':
      return judgeVerifier(grader, createJudge(grader, means));
  }
}
