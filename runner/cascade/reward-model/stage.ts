// The stage of a reward model: batches of pairs, Bradley-Terry on the values at their last tokens. The loss of a pair is of two
// values that lie in micro-batches of their own, so values come first and their gradient in a second pass.
import type { ExpandedRewardModelStage } from '../../../api/contract/expand.ts';
import { batchOf } from '../../data/order.ts';
import { stepsOver } from '../duration.ts';
import { mean } from '../mean.ts';
import { updatedOr } from '../stage-run.ts';
import type { StageRun } from '../stage-run.ts';
import { optimize } from '../update.ts';
import { bradleyTerry, isOrdered, marginsOf } from './bradley-terry.ts';
import type { BradleyTerry } from './bradley-terry.ts';
import type { Pair, ValuedModel } from './pairs.ts';

export function rewardModelStage(
  { learner }: ValuedModel,
  stage: ExpandedRewardModelStage,
  pairs: readonly Pair[],
  seed: number,
): StageRun {
  const steps = stepsOver(pairs.length, stage);
  const order = { seed, stage: stage.name, rows: pairs.length, size: stage.batch };
  return {
    steps,
    async step(step) {
      const started = performance.now();
      const batch = batchOf(order, step).map((at) => pairs[at]!);
      const { margins_P, loss, plan } = await addGradient(learner, batch);
      const { metrics, skipped } = await optimize(learner, stage, { step, steps });
      const seconds = (performance.now() - started) / 1000;
      const tokens = batch.reduce(
        (total, { chosen, rejected }) => total + chosen.tokens_T.length + rejected.tokens_T.length,
        0,
      );
      return {
        ...updatedOr(skipped),
        metrics: {
          ...metrics,
          loss,
          accuracy: mean(margins_P.map(isOrdered)),
          margin: mean(margins_P),
          tokens,
          tokens_per_s: tokens / seconds,
          time_train: seconds,
        },
        samples: [],
        plan,
      };
    },
  };
}

/** Of the batch's loss, to what gradients there are. Margins are those before the update. */
export async function addGradient(learner: ValuedModel['learner'], batch: readonly Pair[]) {
  const sequences = batch.flatMap(({ chosen, rejected }) => [chosen.tokens_T, rejected.tokens_T]);
  const margins_P = marginsOf(await learner.values(sequences));
  const { loss, slopes_P }: BradleyTerry = bradleyTerry(margins_P);
  const cotangents = Float32Array.from(slopes_P.flatMap((slope) => [slope, -slope]));
  const { plan } = await learner.valuesBackward(sequences, cotangents);
  return { margins_P, loss, plan };
}
