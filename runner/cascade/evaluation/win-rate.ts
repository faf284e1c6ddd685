// Win rate: how often an answer is better than its row's reference. A pairwise judge says that itself; a reward model is asked
// about both, and the larger score wins. A tie counts a half either way.
import type { Grader } from '../../../api/contract/grader.ts';
import type { Task } from '../../../api/contract/task.ts';
import { DataError } from '../../data/error.ts';
import { goldText } from '../../rewards/gold-text.ts';
import type { Reward } from '../../rewards/reward.ts';
import { invalid, scored } from '../../rewards/reward.ts';
import type { Verifier } from '../../rewards/verifier.ts';
import type { Graded } from '../graded.ts';
import { mean } from '../mean.ts';
import type { Measure } from './measured.ts';

/** Verifier of a win: 1, 0.5 or 0. Throws DataError for a row without a reference; `where` is the suite and its dataset. */
export function winVerifier(
  grader: Grader,
  verifier: Verifier,
  rows: readonly Task[],
  where: string,
): Verifier {
  rows.forEach((row, index) => {
    if (goldText(row) === undefined)
      throw new DataError(`${where}, row ${index}: a win rate needs a reference, and the row has none`);
  });
  return grader.type === 'judge' ? verifier : againstReference(verifier);
}

/** References are scored once, unless they were not to be scored: then with the answer that asks next. */
function againstReference(verifier: Verifier): Verifier {
  const references = new Map<Task, Promise<Reward>>();
  const referenceOf = async (task: Task): Promise<Reward> => {
    const asked = references.get(task) ?? verifier.grade(task, goldText(task)!);
    references.set(task, asked);
    const outcome = await asked;
    if (outcome.status === 'unscored') references.delete(task);
    return outcome;
  };
  return {
    ...verifier,
    maxScore: () => 1,
    grade: async (task, response) => {
      const [answer, reference] = await Promise.all([verifier.grade(task, response), referenceOf(task)]);
      if (answer.status === 'unscored') return answer;
      if (reference.status === 'unscored') return reference;
      if (answer.status === 'invalid') return invalid(answer.code, 0, answer.detail);
      return scored(winOf(answer.value, reference.value), {
        answer: answer.value,
        reference: reference.value,
      });
    },
  };
}

const winOf = (answer: number, reference: number): number =>
  answer === reference ? 0.5 : answer > reference ? 1 : 0;

/** A task's value is the mean over its k answers. */
export function winRate(graded_PG: readonly (readonly Graded[])[]): Measure {
  const values = graded_PG.map((graded_G) => {
    const wins = graded_G.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    return wins.length === 0 ? null : mean(wins);
  });
  return { metric: 'win_rate', values, most: 1 };
}
