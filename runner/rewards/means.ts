// What graders grade with beyond their own code: threads, sandboxes, models. Made once for a process and shared by its
// graders; who made it closes it.
import { MathWorkers } from './math/workers.ts';
import type { ScoreAnswers } from './preference.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

export interface Means {
  readonly math: MathWorkers;
  /** Absent where no code is to be run; graders of code then answer `unscored` with `no_backend`. */
  readonly sandbox?: Sandbox;
  /** By checkpoint id. */
  readonly rewardModels?: ReadonlyMap<string, ScoreAnswers>;
  /** Where secrets and the permission for private addresses are looked up; default: the process's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends every thread and process of the means; graders that still use them answer `unscored`. */
  close(): Promise<void>;
}

/** Threads start when they are needed; a sandbox comes open (`openSandbox`) and is closed with the rest. */
export function createMeans(given: Omit<Means, 'math' | 'close'> = {}): Means {
  const math = new MathWorkers();
  const close = async () => {
    await Promise.all([math.close(), given.sandbox?.close()]);
  };
  return { ...given, math, close };
}
