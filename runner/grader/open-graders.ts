// What the graders of this process work with, opened on the first errand and closed at its end: the one place that knows. Pools of
// workers and sandboxes are opened here, once for all errands, and what this machine can run is found out here.
import type { Grader } from '../../api/contract/grader.ts';
import type { Task } from '../../api/contract/task.ts';
import type { Abilities } from '../ipc.ts';
import { createGrader } from '../rewards/grade.ts';
import type { Verifier } from '../rewards/verifier.ts';

export interface OpenGraders {
  /** Throws where this version, or this machine, has no verifier for it. */
  verifier(grader: Grader): Verifier<Task>;
  /** Ends what was started; called once. */
  close(): Promise<void>;
}

export async function openGraders(): Promise<OpenGraders> {
  return { verifier: createGrader, close: () => Promise.resolve() };
}

/** Without opening more than it takes to know. */
export async function findAbilities(): Promise<Abilities> {
  const none = 'this version has no sandbox to run code in';
  return { languages: [], missing: { python: none, javascript: none, typescript: none } };
}
