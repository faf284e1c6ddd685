// The update from a batch: what its teachers say of it, how far they are, and AdamW where there is something to learn.
import { samplerGap } from '../rl/rollout-metrics.ts';
import type { StepResult } from '../stage-run.ts';
import { optimize } from '../update.ts';
import type { Answer } from './answers.ts';
import { measureDistances } from './distance.ts';
import { learn } from './learn.ts';
import type { Learnt } from './learn.ts';
import type { Taught } from './lesson.ts';
import type { DistillStep } from './options.ts';
import { gainAt } from './policy-gradient.ts';

export interface Update extends Pick<StepResult, 'plan' | 'metrics'> {
  readonly taught: readonly Taught[];
  readonly times: Partial<Learnt['times']>;
  readonly skipped: string | undefined;
}

/** Throws Diverged, TeacherTooFar, UnfitWeights. */
export async function updateFrom(
  options: DistillStep,
  answers: readonly Answer[],
  step: number,
): Promise<Update> {
  const { stage, policy } = options;
  if (answers.length === 0)
    return { skipped: 'no answer of this batch has a token to learn from', ...nothing };
  const { taught, times, meanEntropy, plan } = await learn(options, answers);
  measureDistances(options, taught);
  const told = {
    taught,
    plan,
    metrics: {
      entropy: meanEntropy,
      ...samplerGap(
        taught.map(({ rollout }) => rollout),
        taught.map(({ policy_T, rollout }) => afterPrompt(policy_T, rollout)),
      ),
    },
  };
  if (teachesNothing(stage.objective, taught)) {
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

const nothing = { taught: [], plan: [], metrics: {}, times: {} } as const;

function afterPrompt(response_T: Float32Array, { prompt }: Answer['rollout']): Float32Array {
  const whole = new Float32Array(prompt.length + response_T.length);
  whole.set(response_T, prompt.length);
  return whole;
}

/** Momentum alone must not move the weights. */
function teachesNothing(objective: DistillStep['stage']['objective'], taught: readonly Taught[]): boolean {
  if (objective.type === 'divergence')
    return taught.every(({ divergence_T }) => divergence_T!.every((value) => value === 0));
  return taught.every((one) =>
    one.policy_T.every((_, t) => Math.fround(gainAt(objective, one, t).gain / one.parts) === 0),
  );
}
