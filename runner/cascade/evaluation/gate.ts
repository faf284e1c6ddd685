// One gate, looked at: pure. It fires only where the whole interval lies on the wrong side of its limit, so that noise stops nobody.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import type { Gate } from '../../../api/contract/gate.ts';
import type { Evaluated } from '../point.ts';
import type { Interval } from './interval.ts';
import { intervalKey, intervalOf } from './measured.ts';
import type { Measured } from './measured.ts';
import { pairedDrop } from './paired-drop.ts';

export interface Look extends Interval {
  readonly limit: number;
  readonly tasks: number;
  readonly fires: boolean;
}

/** What a gate looks at: the point it stands after, and those before. */
export interface GateView {
  readonly now: readonly Measured[];
  readonly history: readonly Evaluated[];
  readonly seed: number;
}

const pathOf = ({ suite, mode, metric }: EvaluationCell): string => `${suite}.${mode}.${metric}`;

/** Of a loss less is better; of everything else more. */
const lessIsBetter = ({ metric }: EvaluationCell): boolean => metric === 'loss';

export const sinceOf = ({ require }: Gate): string => require.since ?? 'initial';

/** Undefined where there is nothing to compare: no task was scored, now or then. */
export function lookAtGate(gate: Gate, view: GateView): Look | undefined {
  const { metric, drop_at_most } = gate.require;
  const now = view.now.find(({ cell }) => pathOf(cell) === metric);
  if (now === undefined) return undefined;
  return drop_at_most === undefined ? ofLevel(gate, now, view.seed) : ofDrop(gate, now.cell, view);
}

function ofLevel({ require }: Gate, { cell, most }: Measured, seed: number): Look | undefined {
  const key = intervalKey(seed, cell);
  const interval = intervalOf({ values: valuesOf(cell), most }, key, require.confidence);
  if (interval === undefined) return undefined;
  const limit = require.at_least!;
  const fires = lessIsBetter(cell) ? interval.low > limit : interval.high < limit;
  return { ...interval, limit, tasks: cell.tasks, fires };
}

/** The same key as the metric's interval: nothing is drawn from both. */
function ofDrop(gate: Gate, cell: EvaluationCell, { history, seed }: GateView): Look | undefined {
  const { metric, confidence, drop_at_most } = gate.require;
  // The last: a stage that is evaluated again after a resume comes twice.
  const before = history
    .findLast(({ after }) => after === sinceOf(gate))
    ?.cells.find((one) => pathOf(one) === metric);
  if (before === undefined) return undefined;
  const [better, worse] = lessIsBetter(cell) ? [cell, before] : [before, cell];
  const drop = pairedDrop(valuesOf(better), valuesOf(worse), intervalKey(seed, cell), confidence);
  return drop && { ...drop, limit: drop_at_most!, fires: drop.low > drop_at_most! };
}

function valuesOf({ values, ...cell }: EvaluationCell): readonly (number | null)[] {
  if (values === undefined) throw new Error(`internal: ${pathOf(cell)} has no values of tasks`);
  return values;
}
