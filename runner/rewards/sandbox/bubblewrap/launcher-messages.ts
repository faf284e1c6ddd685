// What a runner's process and the launcher of its sandboxes say to each other, over the IPC channel of Node.js.
import type { LimitedProgram } from '../executor.ts';
import type { Limits, Run } from '../sandbox.ts';

/** One runs alone, two as judge and candidate of a conversation. */
export type Programs =
  readonly [program: LimitedProgram] | readonly [judge: LimitedProgram, candidate: LimitedProgram];

/** What became of each program. */
export type Runs<P extends Programs> = { readonly [I in keyof P]: Run };

export type Request =
  /** Once, before anything else. `limits`: as of the interpreters that wait. */
  | { readonly ask: 'open'; readonly limits: Limits }
  | { readonly ask: 'run'; readonly id: number; readonly programs: Programs }
  /** Nothing more comes. What runs is stopped, and told, before the launcher ends. */
  | { readonly ask: 'close' };

export interface Reply {
  readonly id: number;
  readonly runs: Runs<Programs>;
  /** Of all that this launcher started and of itself, so far. */
  readonly cpuSeconds: number;
}
