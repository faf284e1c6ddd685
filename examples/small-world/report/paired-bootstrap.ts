// The interval of a mean of paired differences over tasks, by the cascade's own bootstrap: the same differences always give the same
// interval.
import { bootstrapInterval } from '../../../runner/cascade/evaluation/bootstrap.ts';
import type { Interval } from '../../../runner/cascade/evaluation/interval.ts';
import { drawKey } from '../../../runner/engine/random/draws.ts';

const key = drawKey(0, 'small-world/paired-bootstrap', 0);
const confidence = 0.95;

/** `differences`: after less before, one a task. At least one. */
export function pairedBootstrap(differences: readonly number[]): Interval {
  if (differences.length === 0) throw new Error('no task was scored both before and after');
  return bootstrapInterval(differences, key, confidence);
}
