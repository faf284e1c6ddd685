// What the graders of this process work with, opened when an errand first needs it and closed at the end: the one place that
// knows. What this machine can run is found out here, too.
import type { Grader } from '../../api/contract/grader.ts';
import type { Task } from '../../api/contract/task.ts';
import type { Abilities } from '../ipc.ts';
import { gradableLanguages } from '../rewards/code.ts';
import { createGrader } from '../rewards/grade.ts';
import { createMeans } from '../rewards/means.ts';
import { openSandbox } from '../rewards/sandbox/open.ts';
import type { Sandbox } from '../rewards/sandbox/sandbox.ts';
import type { Verifier } from '../rewards/verifier.ts';

export interface OpenGraders {
  /** Throws where this version, or this machine, has no verifier for it. */
  verifier(grader: Grader): Promise<Verifier<Task>>;
  /** Ends what was started; called once. */
  close(): Promise<void>;
}

export function openGraders(): OpenGraders {
  const means = createMeans();
  let sandbox: Promise<Sandbox> | undefined;
  return {
    verifier: async (grader) =>
      createGrader(
        grader,
        grader.type === 'code' ? { ...means, sandbox: await (sandbox ??= openSandbox()) } : means,
      ),
    close: async () => {
      await Promise.all([means.close(), sandbox?.then((open) => open.close())]);
    },
  };
}

/** Each language is tried once. */
export async function findAbilities(): Promise<Abilities> {
  const sandbox = await openSandbox();
  try {
    return gradableLanguages(sandbox);
  } finally {
    await sandbox.close();
  }
}
