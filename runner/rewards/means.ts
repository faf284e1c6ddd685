// What graders grade with beyond their own code: threads, sandboxes, models. Made once for a process and shared by its
// graders; who made it closes it.
import { MathWorkers } from './math/workers.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

export interface Means {
  readonly math: MathWorkers;
  /** Absent where no code is to be run; graders of code then answer `unscored` with `no_backend`. */
  readonly sandbox?: Sandbox;
  /** Ends every thread and process of the means; graders that still use them answer `unscored`. */
  close(): Promise<void>;
}

/** Threads start when they are needed; a sandbox comes open (`openSandbox`) and is closed with the rest. */
export function createMeans(sandbox?: Sandbox): Means {
  const math = new MathWorkers();
  const close = async () => {
    await Promise.all([math.close(), sandbox?.close()]);
  };
  return { math, ...(sandbox === undefined ? {} : { sandbox }), close };
}
