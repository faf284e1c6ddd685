// What the graders of this process work with, opened when an errand first needs it and closed at the end: the one place that
// knows. What this machine can run is found out here, too.
import type { Grader } from '../../api/contract/grader.ts';
import type { Task } from '../../api/contract/task.ts';
import type { Abilities, FetchedRewardModel } from '../ipc.ts';
import { gradableLanguages } from '../rewards/code.ts';
import { createGrader } from '../rewards/grade.ts';
import { createMeans } from '../rewards/means.ts';
import type { Means } from '../rewards/means.ts';
import { openSandbox } from '../rewards/sandbox/open.ts';
import type { Sandbox } from '../rewards/sandbox/sandbox.ts';
import type { Verifier } from '../rewards/verifier.ts';
import { HeldRewardModel } from './held-reward-model.ts';

export interface OpenGraders {
  /** For one errand, after the former one. Throws where this version, or this machine, has no verifier for it; InvalidRewardModel. */
  verifier(grader: Grader, rewardModel?: FetchedRewardModel): Promise<Verifier<Task>>;
  /** Ends what was started; called once. */
  close(): Promise<void>;
}

export function openGraders(): OpenGraders {
  const means = createMeans();
  const held = new HeldRewardModel();
  let sandbox: Promise<Sandbox> | undefined;
  const meansFor = async ({ type }: Grader, rewardModel?: FetchedRewardModel): Promise<Means> => {
    if (type === 'code') return { ...means, sandbox: await (sandbox ??= openSandbox()) };
    if (rewardModel === undefined) return means;
    return { ...means, rewardModels: new Map([[rewardModel.id, await held.open(rewardModel)]]) };
  };
  return {
    verifier: async (grader, rewardModel) => createGrader(grader, await meansFor(grader, rewardModel)),
    close: async () => {
      held[Symbol.dispose]();
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
