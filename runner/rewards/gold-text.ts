// The reference that a row of any kind carries, as text: what a foreign grader is proven with and a judge compares with.
import type { Task } from '../../api/contract/task.ts';

/** Undefined where the row has none that could stand as an answer: a patch is a change, and not how a model answers. */
export function goldText(task: Task): string | undefined {
  if ('answer' in task) return task.answer;
  if ('chosen' in task) return task.chosen;
  return 'solution' in task ? task.solution : undefined;
}
