// The evaluations of a job as its matrix: one row a suite, mode and metric, one column a point in the cascade. Pure.
import { table } from '../format.ts';
import { afterWords, pathOf } from './lines.ts';
import type { Evaluated } from './view.ts';

/** Those within stages are left out: their lines have been written, and the ends of stages are what is compared. */
export function evaluationTable(evaluations: readonly Evaluated[]): string[] {
  const points = evaluations.filter(({ step }) => step === null);
  if (points.length === 0) return [];
  const paths = [...new Set(points.flatMap(({ cells }) => cells.map(pathOf)))];
  return table([
    ['', ...points.map(({ after }) => afterWords(after))],
    ...paths.map((path) => [
      path,
      ...points.map(({ cells }) => cells.find((cell) => pathOf(cell) === path)?.value.toFixed(4) ?? '-'),
    ]),
  ]);
}
