// One step of on-policy distillation: tasks -> rollouts -> what their teachers say of them -> weights -> update (Nemotron-Cascade 2,
// section 4.4). Strictly on-policy, one update for each batch of rollouts.
import { sum } from '../mean.ts';
import { updatedOr } from '../stage-run.ts';
import type { StepResult } from '../stage-run.ts';
import { updateFrom } from './batch-update.ts';
import type { Update } from './batch-update.ts';
import { distilledMetrics, modesOfBatch, sampledMetrics } from './metrics.ts';
import type { DistillStepOptions } from './options.ts';
import { rolloutsOf, sampleBatch } from './rollouts.ts';
import type { SampledBatch } from './rollouts.ts';
import { distilledSamples } from './samples.ts';
import { selectRollouts } from './selection.ts';

/** Throws RewardUnavailable, Diverged, TeacherTooFar. */
export async function distillStep(options: DistillStepOptions, step: number): Promise<StepResult> {
  const { stage } = options;
  const { groups_P, times } = await sampleBatch(options, step);
  const { trained, leftOut } = selectRollouts(options, rolloutsOf(groups_P));
  const update = await updateFrom(options, trained, step);
  const { distilled } = update;
  return {
    ...updatedOr(update.skipped),
    metrics: {
      ...sampledMetrics(groups_P, leftOut),
      ...distilledMetrics(stage.objective, groups_P, distilled),
      ...update.metrics,
      ...rateMetrics(groups_P, { ...times, ...update.times }),
      ...times,
      ...update.times,
    },
    modes: modesOfBatch(stage.objective, groups_P, distilled),
    samples: distilledSamples(options, groups_P, distilled),
    plan: update.plan,
  };
}

/** `tokens` are those sampled, whether learnt from or not. */
function rateMetrics(
  groups_P: SampledBatch['groups_P'],
  { time_sample, time_score = 0, time_teach = 0, time_train }: SampledBatch['times'] & Update['times'],
): Record<string, number> {
  if (time_train === undefined) return {};
  const tokens = sum(groups_P.flatMap(({ rollouts_G }) => rollouts_G.map(({ response }) => response.length)));
  return { tokens, tokens_per_s: tokens / (time_sample + time_score + time_teach + time_train) };
}
