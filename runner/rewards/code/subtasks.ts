// A row with subtasks: the program is judged on each by itself, and the parts of its reward say which it solves. The value is 1
// where it solves all of them and else 0, as for any other row; points are for evaluations (the `points` measure).
import type { CodeRow, TestedCode } from '../../../api/contract/task.ts';
import type { Reward } from '../reward.ts';
import { scored } from '../reward.ts';

/** The row itself, or each of its subtasks with what the row gives to all. */
export function testedParts({ tests, subtasks, ...shared }: CodeRow): TestedCode[] {
  if (subtasks !== undefined) return subtasks.map((subtask) => ({ ...shared, tests: subtask.tests }));
  // The schema wants one of the two.
  return [{ ...shared, tests: tests! }];
}

const partOf = (index: number): string => `subtask_${index + 1}`;

/** Which subtasks an answer solved, in their order. None where it was not scored: an invalid answer solves nothing. */
export const solvedSubtasks = (subtasks: number, outcome: Reward): boolean[] =>
  Array.from(
    { length: subtasks },
    (_, index) => outcome.status === 'scored' && outcome.parts[partOf(index)] === 1,
  );

/** `judge` grades one of the row's tested parts. What is unscored in one of them leaves all of the answer unscored. */
export async function subtasksReward(
  parts: readonly TestedCode[],
  judge: (part: TestedCode) => Promise<Reward>,
): Promise<Reward> {
  const outcomes: Reward[] = [];
  for (const part of parts) {
    const outcome = await judge(part);
    // No program is none for every subtask.
    if (outcome.status === 'unscored' || isNoProgram(outcome)) return outcome;
    outcomes.push(outcome);
  }
  const solved = outcomes.map((outcome) => outcome.status === 'scored' && outcome.value === 1);
  if (outcomes.every(({ status }) => status === 'invalid')) return outcomes[0]!;
  const failed = outcomes.find((_, index) => !solved[index]);
  const named = Object.fromEntries(solved.map((is, index) => [partOf(index), is ? 1 : 0]));
  if (failed === undefined) return scored(1, named);
  return scored(0, named, `${partOf(outcomes.indexOf(failed))}: ${failed.detail ?? 'failed'}`);
}

const isNoProgram = (outcome: Reward): boolean => outcome.status === 'invalid' && outcome.code !== 'timeout';
