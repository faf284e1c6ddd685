// What graders grade with beyond their own code: threads, sandboxes, models. Made once for a process and shared by its
// graders; who made it closes it.
import { MathWorkers } from './math/workers.ts';

export interface Means {
  readonly math: MathWorkers;
  /** Ends every thread and process of the means; graders that still use them answer `unscored`. */
  close(): Promise<void>;
}

/** Nothing starts before it is needed. */
export function createMeans(): Means {
  const math = new MathWorkers();
  return { math, close: () => math.close() };
}
