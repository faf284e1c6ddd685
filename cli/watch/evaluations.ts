// The evaluations of a job as a small table: one row a point in the cascade, one column a suite and mode. Pure.
import type { EvaluationCell } from '../../api/contract/event.ts';
import { table } from '../format.ts';
import { afterWords } from './lines.ts';
import type { Evaluated } from './view.ts';

export function evaluationTable(evaluations: readonly Evaluated[]): string[] {
  if (evaluations.length === 0) return [];
  const names = [...new Set(evaluations.flatMap(({ cells }) => cells.map(columnOf)))];
  return table([
    ['', ...names],
    ...evaluations.map(({ after, cells }) => [
      afterWords(after),
      ...names.map((name) => cells.find((cell) => columnOf(cell) === name)?.value.toFixed(4) ?? '-'),
    ]),
  ]);
}

/** The metric path of a cell. */
const columnOf = ({ suite, mode, metric }: EvaluationCell): string => `${suite}.${mode}.${metric}`;
