// Points as the IOI counts them: a task is worth the points of the subtasks that any of its k submissions solves.
import type { CodeRow, Subtask, Task } from '../../../api/contract/task.ts';
import { DataError } from '../../data/error.ts';
import { solvedSubtasks } from '../../rewards/code/subtasks.ts';
import type { Graded } from '../graded.ts';
import type { Measure } from './measured.ts';

/** Throws DataError for a row without subtasks; `where` is the suite and its dataset. */
export const subtasksOf = (rows: readonly Task[], where: string): (readonly Subtask[])[] =>
  rows.map((row, index) => {
    const { subtasks } = row as Partial<CodeRow>;
    if (subtasks === undefined)
      throw new DataError(`${where}, row ${index}: points are of subtasks, and the row has none`);
    return subtasks;
  });

/** `points` and their share of the task's maximum. A task none of whose answers was scored is unscored. */
export function points(
  subtasks_P: readonly (readonly Subtask[])[],
  graded_PG: readonly (readonly Graded[])[],
): Measure[] {
  const maxima = subtasks_P.map((subtasks) => subtasks.reduce((total, { points }) => total + points, 0));
  const values = graded_PG.map((graded_G, p) => {
    const scored_G = graded_G.filter(({ reward }) => reward !== null);
    if (scored_G.length === 0) return null;
    const solved_G = scored_G.map(({ outcome }) => solvedSubtasks(subtasks_P[p]!.length, outcome));
    return subtasks_P[p]!.reduce(
      (total, subtask, index) => total + (solved_G.some((solved) => solved[index]) ? subtask.points : 0),
      0,
    );
  });
  const shares = values.map((value, p) => (value === null ? null : value / maxima[p]!));
  return [
    { metric: 'points', values, most: maxima.reduce((a, b) => Math.max(a, b), 0) },
    { metric: 'points_share', values: shares, most: 1 },
  ];
}
