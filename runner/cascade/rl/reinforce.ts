// One step of every RL stage: tasks -> rollouts -> rewards -> penalties -> advantages -> objective -> update (Nemotron-Cascade
// section 2: strictly on-policy, one update for each batch of rollouts, no entropy bonus).
// P: prompts of a step, G: rollouts of a group.
import type { Phase } from '../../../api/contract/stages/phase.ts';
import type { WeightedSequence } from '../../engine/learner/micro-batches.ts';
import { sum } from '../mean.ts';
import { updatedOr } from '../stage-run.ts';
import type { StepResult } from '../stage-run.ts';
import { update } from '../update.ts';
import { gather } from './gather.ts';
import { judgeBatch } from './judge.ts';
import type { JudgedGroup } from './judge.ts';
import type { StepOptions } from './options.ts';
import { phaseAt } from './phase-at.ts';
import { modeMetrics, rolloutMetrics, samplerGap } from './rollout-metrics.ts';
import type { RoundTimes } from './sample-round.ts';
import { chooseSamples } from './samples.ts';
import { weigh } from './weigh.ts';

export async function reinforce(options: StepOptions, step: number): Promise<StepResult> {
  const { stage, phases, samplesPerStep } = options;
  const { phase } = phaseAt(phases, step);
  const gathered = await gather(options, phase, step);
  const groups_P = judgeBatch(stage, phase, gathered.groups_P);
  const { outcome, metrics, plan } = await learn(options, { phase, step }, groups_P);
  const { time_train } = metrics;
  return {
    ...outcome,
    metrics: {
      ...rolloutMetrics(groups_P),
      ...metrics,
      ...(time_train === undefined ? {} : rateMetrics(groups_P, { ...gathered.times, time_train })),
      ...gathered.metrics,
      ...gathered.times,
    },
    modes: modeMetrics(groups_P),
    samples: chooseSamples(groups_P, samplesPerStep),
    plan,
    ended: gathered.ended,
  };
}

interface Learnt extends Pick<StepResult, 'plan'> {
  readonly outcome: ReturnType<typeof updatedOr>;
  /** `time_train`: seconds, where there was something to learn. */
  readonly metrics: StepResult['metrics'] & { readonly time_train?: number };
}

/** Weights of the tokens that count, and the update from them. */
async function learn(
  options: StepOptions,
  { phase, step }: { readonly phase: Phase; readonly step: number },
  groups_P: readonly JudgedGroup[],
): Promise<Learnt> {
  const { policy, stage, phases } = options;
  const learnt = groups_P
    .flatMap(({ rollouts_G }) => rollouts_G)
    .filter(({ advantage, rollout }) => advantage !== null && rollout.response.length > 0)
    .map(({ rollout, advantage }) => ({ ...rollout, advantage }));
  const started = performance.now();
  const weighed = await weigh(options, learnt, phase.temperature);
  const cause = nothingToLearn(weighed.sequences);
  if (cause !== undefined) return { outcome: updatedOr(cause), metrics: weighed.metrics, plan: [] };
  const { logProbs, metrics, plan, skipped } = await update(policy, weighed.sequences, stage, {
    step,
    steps: sum(phases.map(({ steps }) => steps)),
    temperature: phase.temperature,
  });
  const time_train = (performance.now() - started) / 1000;
  const ofResponses = logProbs.map((values, i) => values.subarray(learnt[i]!.prompt.length));
  return {
    outcome: updatedOr(skipped),
    metrics: { ...weighed.metrics, ...metrics, ...samplerGap(learnt, ofResponses), time_train },
    plan,
  };
}

/** `tokens` are those sampled, whether learnt from or not. */
function rateMetrics(
  groups_P: readonly JudgedGroup[],
  { time_sample, time_score, time_train }: RoundTimes & { readonly time_train: number },
): Record<string, number> {
  const rollouts = groups_P.flatMap(({ rollouts_G }) => rollouts_G);
  const tokens = sum(rollouts.map(({ rollout }) => rollout.response.length));
  return { tokens, tokens_per_s: tokens / (time_sample + time_score + time_train) };
}

/** Why an update would change nothing; momentum alone must not move the weights. A KL penalty needs no variance. */
function nothingToLearn(sequences: readonly WeightedSequence[]): string | undefined {
  if (sequences.length === 0) return 'no rollout of this batch has a token to learn from';
  return sequences.every(({ weights_T }) => weights_T.every((weight) => weight === 0))
    ? 'no group of this batch has any variance'
    : undefined;
}
