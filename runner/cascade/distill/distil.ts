// One step of on-policy distillation: tasks -> answers -> what their teachers say of them -> weights -> update (Nemotron-Cascade 2,
// section 4.4). Strictly on-policy, one update for each batch of answers.
import { sum } from '../mean.ts';
import { updatedOr } from '../stage-run.ts';
import type { StepResult } from '../stage-run.ts';
import { answersOf, flatAnswers } from './answers.ts';
import type { Answered } from './answers.ts';
import { updateFrom } from './learnt-update.ts';
import type { Update } from './learnt-update.ts';
import { answeredMetrics, distilledModes, lessonMetrics } from './metrics.ts';
import type { DistillStep } from './options.ts';
import { distilledSamples } from './samples.ts';
import { chosenAnswers } from './selection.ts';

/** Throws RewardUnavailable, Diverged, TeacherTooFar. */
export async function distil(options: DistillStep, step: number): Promise<StepResult> {
  const { stage } = options;
  const { groups_P, times } = await answersOf(options, step);
  const { learnt, left } = chosenAnswers(options, flatAnswers(groups_P));
  const update = await updateFrom(options, learnt, step);
  const { taught } = update;
  return {
    ...updatedOr(update.skipped),
    metrics: {
      ...answeredMetrics(groups_P, left),
      ...(taught.length === 0 ? {} : lessonMetrics(stage.objective, taught)),
      ...update.metrics,
      ...rateMetrics(groups_P, { ...times, ...update.times }),
      ...times,
      ...update.times,
    },
    modes: distilledModes(stage.objective, groups_P, taught),
    samples: distilledSamples(options, groups_P, taught),
    plan: update.plan,
  };
}

/** `tokens` are those sampled, whether learnt from or not. */
function rateMetrics(
  groups_P: Answered['groups_P'],
  { time_sample, time_score = 0, time_teach = 0, time_train }: Answered['times'] & Update['times'],
): Record<string, number> {
  if (time_train === undefined) return {};
  const tokens = sum(groups_P.flatMap(({ rollouts_G }) => rollouts_G.map(({ response }) => response.length)));
  return { tokens, tokens_per_s: tokens / (time_sample + time_score + time_teach + time_train) };
}
