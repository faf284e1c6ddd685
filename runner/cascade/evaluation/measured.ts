// What a suite measures in one mode: a value a task, and what is needed to make a cell or an interval of it.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import type { ExpandedSuite } from '../../../api/contract/expand.ts';
import { drawKey } from '../../engine/random/draws.ts';
import type { DrawKey } from '../../engine/random/draws.ts';
import { meanInterval } from './interval.ts';
import type { Interval, Most } from './interval.ts';

export interface Measure {
  readonly metric: string;
  /** Of every row of the suite; null: unscored. */
  readonly values: readonly (number | null)[];
  /** Values lie between 0 and this; undefined: they have no bounds. */
  readonly most: Most;
}

const CELL_CONFIDENCE = 0.95;

/** Undefined where no task could be scored: our fault, and no number. */
export function intervalOf(
  { values, most }: Pick<Measure, 'values' | 'most'>,
  key: DrawKey,
  confidence: number,
): Interval | undefined {
  const scored = values.filter((value) => value !== null);
  return scored.length === 0 ? undefined : meanInterval(scored, most, key, confidence);
}

/** What the intervals of a cell and of gates on it are drawn with: the same at every evaluation. */
export const intervalKey = (
  seed: number,
  { suite, mode, metric }: Pick<EvaluationCell, 'suite' | 'mode' | 'metric'>,
): DrawKey => drawKey(seed, `interval/${suite}/${mode}/${metric}`, 0);

/** A cell of the matrix, with the bounds of its values. */
export interface Measured {
  readonly cell: EvaluationCell;
  readonly most: Most;
}

/** Undefined where no task could be scored. */
export function measuredCell(
  { name: suite, domain }: Pick<ExpandedSuite, 'name' | 'domain'>,
  mode: EvaluationCell['mode'],
  measure: Measure,
  seed: number,
): Measured | undefined {
  const { metric, values, most } = measure;
  const interval = intervalOf(measure, intervalKey(seed, { suite, mode, metric }), CELL_CONFIDENCE);
  if (interval === undefined) return undefined;
  const tasks = values.filter((value) => value !== null).length;
  return { cell: { suite, domain, mode, metric, tasks, values: [...values], ...interval }, most };
}
