// What a scalar reward model says of an answer, as it stands: no bounds, and no zero that would mean "wrong". The model itself
// is passed in; here is only what it is asked.
import type { Prompt, Task } from '../../api/contract/task.ts';
import { judgedPart } from './answer-part.ts';
import { batched, bounded } from './batched.ts';
import type { Reward } from './reward.ts';
import { scored, unscored } from './reward.ts';
import type { Verifier } from './verifier.ts';

export interface AnswerToScore {
  readonly prompt: Prompt;
  readonly answer: string;
}

/** `cutFrom`: tokens of prompt and answer where they were more than the model takes. */
export type ModelScore = { readonly value: number; readonly cutFrom?: number } | { readonly fault: string };

/** One score an item, in order. A fault is of that item alone; what is thrown counts for all. */
export type ScoreAnswers = (items: readonly AnswerToScore[]) => Promise<readonly ModelScore[]>;

/** Items handed to the model at once: it cuts them to what its memory holds. */
const batchSize = 64;

export function preferenceVerifier(score: ScoreAnswers): Verifier<Pick<Task, 'prompt'>> {
  const oneAtATime = bounded(1);
  const ask = batched(batchSize, (items: readonly AnswerToScore[]) => oneAtATime(() => score(items)));
  return {
    grade: async ({ prompt }, response) => {
      const answer = judgedPart(response);
      return await ask({ prompt, answer }).then(rewardOf, (error: unknown) =>
        unscored('verifier_down', `the reward model failed: ${(error as Error).message}`),
      );
    },
    maxScore: () => Infinity,
    // What was chosen is better than what was not, and still no answer that nothing scores above.
    goldResponse: () => undefined,
  };
}

function rewardOf(score: ModelScore): Reward {
  if ('fault' in score) return unscored('verifier_down', score.fault);
  const { value, cutFrom } = score;
  if (!Number.isFinite(value)) return unscored('verifier_down', `the reward model said ${value}`);
  const cut = cutFrom === undefined ? undefined : `cut from ${cutFrom} tokens to what the reward model takes`;
  return scored(value, {}, cut);
}
