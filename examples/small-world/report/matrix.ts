// The stage x suite x mode matrix of a run as rows (one a suite, mode and metric) and columns (one a point in the cascade), and what
// each stage did to its own domain and to the others. Pure.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import { table } from '../../../cli/format.ts';
import type { EvaluationRecord, RunRecord, StageRecord } from './record.ts';

export interface MatrixRow {
  /** The metric path: suite.mode.metric. */
  readonly path: string;
  readonly domain: string;
  /** One a column; undefined where it was not evaluated. */
  readonly cells: readonly (EvaluationCell | undefined)[];
}

export interface Matrix {
  /** `initial`, then names of stages. */
  readonly columns: readonly string[];
  /** Domain by domain, in the order of the stages. */
  readonly rows: readonly MatrixRow[];
}

export interface Gain {
  readonly stage: string;
  readonly domain: string;
  readonly path: string;
  readonly before: number;
  readonly after: number;
}

const pathOf = ({ suite, mode, metric }: EvaluationCell): string => `${suite}.${mode}.${metric}`;

export function matrixOf({ stages, evaluations }: RunRecord): Matrix {
  const domains = stages.map(({ domain }) => domain);
  const place = (domain: string): number => (domains.includes(domain) ? domains.indexOf(domain) : Infinity);
  const first = new Map<string, EvaluationCell>();
  for (const cell of evaluations.flatMap(({ cells }) => cells))
    if (!first.has(pathOf(cell))) first.set(pathOf(cell), cell);
  const rows = [...first].map(([path, { domain }]) => ({
    path,
    domain,
    cells: evaluations.map(({ cells }) => cells.find((cell) => pathOf(cell) === path)),
  }));
  return {
    columns: evaluations.map(({ after }) => after),
    rows: rows.sort((a, b) => place(a.domain) - place(b.domain)),
  };
}

/** Each row of its own domain, before and after each RL stage that was evaluated on both sides. */
export const gainsOf = (record: RunRecord): Gain[] => {
  const { columns, rows } = matrixOf(record);
  return record.stages
    .filter(({ reinforced }) => reinforced)
    .flatMap((stage) => {
      const at = columns.indexOf(stage.name);
      return rows
        .filter(({ domain }) => domain === stage.domain)
        .flatMap(({ path, cells }) => {
          const [before, after] = [cells[at - 1], cells[at]];
          return before === undefined || after === undefined
            ? []
            : [{ stage: stage.name, domain: stage.domain, path, before: before.value, after: after.value }];
        });
    });
};

/** Whether the column is the end of a stage that trains the row's domain. */
export const isOwn = (stages: readonly StageRecord[], column: string, row: MatrixRow): boolean =>
  stages.some(({ name, domain, reinforced }) => reinforced && name === column && domain === row.domain);

/** For a terminal: `*` marks what a stage did to its own domain. */
export function matrixTable(record: RunRecord): string[] {
  const { columns, rows } = matrixOf(record);
  return table([
    ['', ...columns.map(columnTitle)],
    ...rows.map((row) => [
      row.path,
      ...columns.map((column, at) => {
        const cell = row.cells[at];
        return cell === undefined
          ? '-'
          : `${cell.value.toFixed(3)}${isOwn(record.stages, column, row) ? '*' : ''}`;
      }),
    ]),
  ]);
}

export const gainTable = (gains: readonly Gain[]): string[] =>
  table([
    ['stage', 'its own domain', 'before', 'after', 'gain'],
    ...gains.map(({ stage, path, before, after }) => [
      stage,
      path,
      before.toFixed(3),
      after.toFixed(3),
      signed(after - before),
    ]),
  ]);

export const columnTitle = (after: string): string => (after === 'initial' ? 'start' : after);

export const signed = (value: number, digits = 3): string =>
  `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(digits)}`;

/** As if it were a run's own evaluations: held-out cells beside the record of the run that they belong to. */
export const withEvaluations = (record: RunRecord, evaluations: readonly EvaluationRecord[]): RunRecord => ({
  ...record,
  evaluations,
});
