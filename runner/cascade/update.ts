// One optimizer update from weighted sequences, with what every stage reports of it.
import type { LengthPlan } from '../engine/learner/memory-plan.ts';
import type { WeightedSequence } from '../engine/learner/micro-batches.ts';
import type { ExpandedStage } from '../../api/contract/expand.ts';
import type { Policy } from './policy.ts';
import { Diverged } from './diverged.ts';
import { learningRate } from './schedule.ts';

export interface Update {
  /** Log-probability of every token of every sequence at the temperature given; index 0 of a sequence is 0. */
  readonly logProbs: readonly Float32Array[];
  readonly metrics: Readonly<Record<string, number>>;
  /** How the sequences were run, by padded length. */
  readonly plan: readonly LengthPlan[];
  /** Why nothing was changed, where nothing was. */
  readonly skipped?: string;
}

/** Forward, backward and AdamW over the whole batch. Throws `Diverged` on a gradient or a change of the weights that is not finite. */
export async function update(
  { learner }: Policy,
  sequences: readonly WeightedSequence[],
  stage: ExpandedStage,
  position: { readonly step: number; readonly steps: number; readonly temperature: number },
): Promise<Update> {
  const { logProbs, meanEntropy, plan } = await learner.forwardBackward(sequences, {
    temperature: position.temperature,
  });
  const { metrics, skipped } = await optimize(learner, stage, position);
  return {
    logProbs,
    metrics: { ...metrics, entropy: meanEntropy },
    plan,
    ...(skipped === undefined ? {} : { skipped }),
  };
}

/** AdamW from the gradients that are there. Throws `Diverged`, as `update` does. */
export async function optimize(
  learner: Policy['learner'],
  stage: ExpandedStage,
  position: { readonly step: number; readonly steps: number },
): Promise<Pick<Update, 'metrics' | 'skipped'>> {
  const lr = learningRate(stage, position.step, position.steps);
  const { beta1, beta2, eps, weight_decay, clip_norm } = stage.optimizer;
  const { gradNorm, updateNorm, overflowed } = await learner.step({
    lr,
    beta1,
    beta2,
    eps,
    weightDecay: weight_decay,
    clipNorm: clip_norm,
  });
  const metrics = { lr, grad_norm: gradNorm, update_norm: updateNorm };
  if (overflowed === true)
    return { metrics, skipped: 'the gradient overflowed float16; the loss scale was halved' };
  if (!Number.isFinite(gradNorm)) {
    throw new Diverged(
      `stage ${stage.name}, step ${position.step}: the gradient's norm is ${gradNorm}; lower the learning rate (it was ${lr})`,
    );
  }
  if (!Number.isFinite(updateNorm)) {
    throw new Diverged(
      `stage ${stage.name}, step ${position.step}: the norm of the weights' change is ${updateNorm}; lower the learning rate (it was ${lr})`,
    );
  }
  return { metrics };
}
