// The errand `grade`: one result for each item, in their order. What goes wrong with one answer is that answer's result, whatever
// it is; the others are graded.
import type { GradeItem, GradeResult } from '../../api/contract/grade.ts';
import { taskSchema } from '../../api/contract/grade.ts';
import type { Grader } from '../../api/contract/grader.ts';
import type { Task } from '../../api/contract/task.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Verifier } from '../rewards/verifier.ts';
import { inOrder } from './in-order.ts';

/** Enough to keep every pool busy. */
export const atOnce = 64;
const longestDetail = 1_000;

export async function gradeItems(
  verifier: Verifier<Task>,
  grader: Grader,
  items: readonly GradeItem[],
  onGraded: () => void,
): Promise<GradeResult[]> {
  const schema = taskSchema(grader);
  const results: GradeResult[] = [];
  const graded = inOrder(items, atOnce, async ({ task, response }) => {
    const reward = await verifier.grade(schema.parse(task), response);
    onGraded();
    return reward;
  });
  for await (const reward of graded) results.push(resultOf(reward, results.length));
  return results;
}

function resultOf(reward: Reward, index: number): GradeResult {
  const detail =
    reward.detail === undefined ? {} : { detail: reward.detail.slice(0, longestDetail).toWellFormed() };
  if (reward.status === 'scored')
    return { index, status: 'scored', value: reward.value, parts: { ...reward.parts }, ...detail };
  if (reward.status === 'invalid')
    return { index, status: 'invalid', value: reward.value, code: reward.code, ...detail };
  return { index, status: 'unscored', code: reward.code, ...detail };
}
