// The gates after a stage: all of them are looked at and told of, then the first that fired and that nobody has passed ends the run,
// unless the stage that repairs comes next; after that one the same gates are looked at again.
// They look at evaluations alone, which a resumed run repeats or has in its checkpoint: it decides alike.
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import { repairedBy, repairOf } from '../../../api/contract/repair.ts';
import type { Gate } from '../../../api/contract/gate.ts';
import { RewardUnavailable } from '../outage.ts';
import type { Host } from '../host.ts';
import { lookAtGate, sinceOf } from './gate.ts';
import type { Look } from './gate.ts';
import type { Matrix } from './matrix.ts';
import type { Measured } from './measured.ts';

/** A gate fired: the run ends here, and what becomes of the job the gate says. */
export class GateFailed extends Error {
  override readonly name = 'GateFailed';
  /** Of the spec's gates, from 0. */
  readonly gate: number;

  constructor(gate: number, message: string) {
    super(message);
    this.gate = gate;
  }
}

export interface Gates {
  readonly spec: ExpandedSpec;
  readonly host: Pick<Host, 'emit'>;
  readonly matrix: Pick<Matrix, 'evaluations'>;
  /** Gates that have paused the run before, and whose pause somebody has ended. */
  readonly passed: readonly number[];
}

/**
 * After the evaluation `now` at the end of stage `after`. Returns whether the stage that repairs it is to run. Throws GateFailed;
 * RewardUnavailable where a gate has nothing to look at.
 */
export function lookAtGates(gates: Gates, after: string, now: readonly Measured[]): boolean {
  const { spec, host, matrix, passed } = gates;
  const view = { now, history: matrix.evaluations, seed: spec.seed };
  const standAfter = [after, repairedBy(spec.stages, after)];
  const fired = spec.gates.flatMap((gate, index) => {
    if (!standAfter.includes(gate.after)) return [];
    const look = lookAtGate(gate, view);
    if (look === undefined) throw new RewardUnavailable(nothingToSee(index, gate, after));
    const result = !look.fires ? 'held' : passed.includes(index) ? 'passed' : 'fired';
    const { value, low, high, limit } = look;
    host.emit({
      type: 'gate',
      gate: index,
      after,
      metric: gate.require.metric,
      since: gate.require.drop_at_most === undefined ? null : sinceOf(gate),
      value,
      low,
      high,
      limit,
      result,
    });
    return result === 'fired' ? [{ gate, index, look }] : [];
  });
  const canRepair = repairOf(spec.stages, after) !== undefined;
  const ends = fired.filter(({ gate }) => !(canRepair && gate.otherwise === 'distill'));
  // One that fails the job first: nobody is asked to resume what cannot go on.
  const first = ends.find(({ gate }) => gate.otherwise === 'fail') ?? ends[0];
  if (first === undefined) return fired.length > 0;
  throw new GateFailed(first.index, whatFired(first.index, first.gate, first.look, after));
}

const nothingToSee = (index: number, { require }: Gate, after: string): string =>
  `gate ${index} after ${after} has nothing to look at: no task of ${require.metric} could be scored` +
  (require.drop_at_most === undefined ? '' : ` both now and after ${require.since ?? 'initial'}`) +
  '. Mend the grader, then resume the job';

function whatFired(index: number, gate: Gate, look: Look, after: string): string {
  const { value, low, high, limit, tasks } = look;
  const { require, otherwise } = gate;
  const { metric, confidence, drop_at_most } = require;
  const isLoss = metric.endsWith('.loss');
  const interval = `${shown(low)} to ${shown(high)} at ${100 * confidence} %, ${tasks} tasks`;
  const level = isLoss ? `more than at most ${limit}` : `less than at_least ${limit}`;
  const what =
    drop_at_most === undefined
      ? `${metric} is ${shown(value)} (${interval}), ${level}`
      : `${metric} is worse by ${shown(value)} (${interval}) than after ${sinceOf(gate)}, more than drop_at_most ${limit}`;
  return `gate ${index} after ${after}: ${what}. ${goOn[otherwise]}`;
}

const resume =
  'To go on all the same, resume the job: that passes this gate once. Else cancel it; its checkpoints are kept';

const goOn: Readonly<Record<Gate['otherwise'], string>> = {
  fail: 'The gate says that the job fails then; its checkpoints are kept, and other jobs can start from them',
  pause: resume,
  distill: `The repair was not enough. ${resume}`,
};

const shown = (value: number): string => value.toFixed(4);
