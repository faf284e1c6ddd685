// The update from a batch: what its teachers say of it, how far they are, and AdamW where there is something to learn.
import { samplerGap } from '../rl/rollout-metrics.ts';
import type { StepResult } from '../stage-run.ts';
import { optimize } from '../update.ts';
import { measureDistances } from './distance.ts';
import { forwardBackward } from './forward-backward.ts';
import type { TimedBatch } from './forward-backward.ts';
import type { DistillStepOptions } from './options.ts';
import { weightAt } from './policy-gradient.ts';
import type { SampledRollout } from './rollouts.ts';
import type { DistilledRollout } from './teacher-batch.ts';

export interface Update extends Pick<StepResult, 'plan' | 'metrics'> {
  readonly distilled: readonly DistilledRollout[];
  readonly times: Partial<TimedBatch['times']>;
  readonly skipped: string | undefined;
}

/** Throws Diverged, TeacherTooFar, UnfitWeights. */
export async function updateFrom(
  options: DistillStepOptions,
  rollouts: readonly SampledRollout[],
  step: number,
): Promise<Update> {
  const { stage, policy } = options;
  if (rollouts.length === 0)
    return { skipped: 'no answer of this batch has a token to learn from', ...nothing };
  const { distilled, times, meanEntropy, plan } = await forwardBackward(options, rollouts);
  measureDistances(options, distilled);
  const told = {
    distilled,
    plan,
    metrics: {
      entropy: meanEntropy,
      ...samplerGap(
        distilled.map(({ rollout }) => rollout),
        distilled.map(({ policyLogProbs_T }) => policyLogProbs_T),
      ),
    },
  };
  if (hasNoWeight(stage.objective, distilled)) {
    policy.learner.dropGradients();
    return {
      ...told,
      times,
      skipped:
        'no token of this batch has a weight: policy and teachers agree, or every ratio is outside the gate',
    };
  }
  const began = performance.now();
  const { metrics, skipped } = await optimize(policy.learner, stage, { step, steps: stage.steps });
  const time_train = times.time_train + (performance.now() - began) / 1000;
  return {
    ...told,
    metrics: { ...told.metrics, ...metrics },
    times: { ...times, time_train },
    skipped,
  };
}

const nothing = { distilled: [], plan: [], metrics: {}, times: {} } as const;

/** Momentum alone must not move the weights. A divergence of 0 has no slope: it is the least that there is. */
function hasNoWeight(
  objective: DistillStepOptions['stage']['objective'],
  distilled: readonly DistilledRollout[],
): boolean {
  if (objective.type === 'divergence')
    return distilled.every(({ divergences_T }) => divergences_T!.every((value) => value === 0));
  return distilled.every((one) =>
    one.policyLogProbs_T.every(
      (_, t) => Math.fround(weightAt(objective, one, t).weight / one.normalizer) === 0,
    ),
  );
}
