// Supervised fine-tuning: the last answer of each conversation, token mean over the batch (w = mask / N).
import type { ExpandedSftStage } from '../../api/contract/expand.ts';
import type { SftRow } from '../../api/contract/task.ts';
import { batchOf } from '../data/order.ts';
import { DataError } from '../data/error.ts';
import { stepsOver } from './duration.ts';
import { sftWeights } from './objective.ts';
import type { Policy } from './policy.ts';
import { answerPairs } from './prompt.ts';
import { updatedOr } from './stage-run.ts';
import type { StageRun } from './stage-run.ts';
import { update } from './update.ts';

export function sftStage(
  policy: Policy,
  stage: ExpandedSftStage,
  rows: readonly SftRow[],
  seed: number,
): StageRun {
  const { prompt_format: format, max_length: maxLength, mode } = stage;
  const pairs = answerPairs(
    policy,
    rows,
    { format, maxLength, mode },
    `stage ${stage.name}, dataset ${stage.data}`,
  );
  const steps = stepsOver(rows.length, stage);
  const order = { seed, stage: stage.name, rows: rows.length, size: stage.batch };
  return {
    steps,
    async step(step) {
      const started = performance.now();
      const sequences = sftWeights(batchOf(order, step).map((row) => pairs[row]!));
      const { logProbs, metrics, plan, skipped } = await update(policy, sequences, stage, {
        step,
        steps,
        temperature: 1,
      });
      const seconds = (performance.now() - started) / 1000;
      const tokens = sequences.reduce((total, { tokens_T }) => total + tokens_T.length, 0);
      return {
        ...updatedOr(skipped),
        metrics: {
          ...metrics,
          loss: loss(sequences, logProbs),
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

function loss(sequences: readonly { weights_T: Float32Array }[], logProbs: readonly Float32Array[]): number {
  let total = 0;
  sequences.forEach(({ weights_T }, i) =>
    weights_T.forEach((weight, t) => (total -= weight * logProbs[i]![t]!)),
  );
  return total;
}
