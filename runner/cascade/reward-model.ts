// The job that trains a reward model: one stage, run as the cascade runs its own, with what it holds out in the place of suites.
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import type { PreferenceRow } from '../../api/contract/task.ts';
import { DataError } from '../data/error.ts';
import type { Resumed } from './point.ts';
import { HeldOut } from './reward-model/held-out.ts';
import { pairsEntry, preparePairs } from './reward-model/pairs.ts';
import type { ValuedModel } from './reward-model/pairs.ts';
import { rewardModelStage } from './reward-model/stage.ts';
import { runStages } from './run.ts';
import { StepCosts } from './step-costs.ts';
import type { Datasets, Host } from './host.ts';

/** Runs from `from` (undefined: the very beginning) to the end. Throws DataError before a step is spent, and Paused. */
export async function runRewardModel(
  spec: ExpandedSpec,
  model: ValuedModel,
  data: Datasets,
  host: Host,
  from?: Resumed,
): Promise<void> {
  const [stage] = spec.stages;
  if (stage?.kind !== 'reward_model') throw new Error(`internal: ${stage?.kind} trains no reward model`);
  const pairs = preparePairs(model, stage, preferenceRows(data, stage.data), spec.seed);
  if (from === undefined) host.emit(pairsEntry(stage, pairs));
  const matrix = new HeldOut({ spec, model, pairs: pairs.heldOut, host }, from?.carried.evaluations);
  const evaluate = async (after: string): Promise<boolean> => {
    await matrix.evaluate(after);
    return false;
  };
  const run = { spec, learner: model.learner, host, matrix, evaluate, costs: new StepCosts(undefined) };
  await runStages(run, [rewardModelStage(model, stage, pairs.trained, spec.seed)], from);
}

function preferenceRows(data: Datasets, id: string): PreferenceRow[] {
  return data.tasks(id).map((row) => {
    if (!('chosen' in row)) throw new DataError(`dataset ${id}: a reward model learns from preference rows`);
    return row;
  });
}
