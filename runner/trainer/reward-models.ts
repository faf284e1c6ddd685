// The reward models that an attempt's graders score with, opened from the checkpoints that the supervisor has fetched.
import type { Runtime } from '../engine/ort/runtime.ts';
import type { Scope } from '../engine/ort/scope.ts';
import { readModel } from '../grader/read-model.ts';
import { RewardModel } from '../grader/reward-model.ts';
import type { Inputs } from '../ipc.ts';
import type { ScoreAnswers } from '../rewards/preference.ts';
import { InvalidModel } from './load-model.ts';

/** By checkpoint id; `scope` ends them. Throws InvalidModel naming the checkpoint that is no reward model. */
export async function openRewardModels(
  runtime: Runtime,
  { rewardModels = {} }: Pick<Inputs, 'rewardModels'>,
  scope: Scope,
): Promise<ReadonlyMap<string, ScoreAnswers>> {
  const opened = new Map<string, ScoreAnswers>();
  for (const [id, directory] of Object.entries(rewardModels)) {
    try {
      const model = scope.own(await RewardModel.create(runtime, await readModel(directory)));
      opened.set(id, (items) => model.score(items));
    } catch (cause) {
      throw new InvalidModel(`reward model ${id}: ${(cause as Error).message}`, { cause });
    }
  }
  return opened;
}
