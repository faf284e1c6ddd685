// Tables for people who read Markdown. Pure.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import { clock } from '../../../cli/format.ts';
import type { Gain } from './matrix.ts';
import { columnTitle, isOwn, matrixOf, signed } from './matrix.ts';
import type { RunRecord } from './record.ts';

export function markdownTable([head, ...rows]: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(head!), row(head!.map(() => '---')), ...rows.map(row)].join('\n');
}

/** Bold: what a stage did to its own domain. */
export function matrixMarkdown(record: RunRecord): string {
  const { columns, rows } = matrixOf(record);
  return markdownTable([
    ['', ...columns.map(columnTitle)],
    ...rows.map((row) => [
      `\`${row.path}\``,
      ...columns.map((column, at) => cellText(row.cells[at], isOwn(record.stages, column, row))),
    ]),
  ]);
}

function cellText(cell: EvaluationCell | undefined, own: boolean): string {
  if (cell === undefined) return '-';
  const half = (cell.high - cell.low) / 2;
  return `${own ? '**' : ''}${cell.value.toFixed(3)}${own ? '**' : ''} ±${half.toFixed(3)}`;
}

export const gainsMarkdown = (gains: readonly Gain[]): string =>
  markdownTable([
    ['stage', 'its own domain', 'before', 'after', 'gain'],
    ...gains.map(({ stage, path, before, after }) => [
      stage,
      `\`${path}\``,
      before.toFixed(3),
      after.toFixed(3),
      signed(after - before),
    ]),
  ]);

export const stagesMarkdown = ({ stages }: RunRecord): string =>
  markdownTable([
    ['stage', 'steps', 'time', 'reward, first and last tenth', 'tokens of a response, first and last tenth'],
    ...stages.map(({ name, steps, seconds }) => [
      name,
      String(steps.length),
      clock(seconds),
      ends(
        steps.map(({ reward }) => reward),
        3,
      ),
      ends(
        steps.map(({ length }) => length),
        1,
      ),
    ]),
  ]);

function ends(values: readonly (number | null)[], digits: number): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return '-';
  const tenth = Math.max(1, Math.round(known.length / 10));
  const mean = (some: readonly number[]): string =>
    (some.reduce((sum, value) => sum + value, 0) / some.length).toFixed(digits);
  return `${mean(known.slice(0, tenth))} to ${mean(known.slice(-tenth))}`;
}
