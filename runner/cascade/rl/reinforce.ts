// One step of every RL stage: tasks -> rollouts -> rewards -> penalties -> advantages -> objective -> update (Nemotron-Cascade
// section 2: strictly on-policy, one update for each batch of rollouts, no entropy bonus).
// P: prompts of a step, G: rollouts of a group.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import type { Phase } from '../../../api/contract/stages/phase.ts';
import type { WeightedSequence } from '../../engine/learner/micro-batches.ts';
import { updatedOr } from '../stage-run.ts';
import type { StepResult } from '../stage-run.ts';
import { update } from '../update.ts';
import { gather } from './gather.ts';
import type { Gathered } from './gather.ts';
import { judgeBatch } from './judge.ts';
import type { JudgedGroup } from './judge.ts';
import { phaseAt } from './phase-at.ts';
import { modeMetrics, rolloutMetrics, samplerGap } from './rollout-metrics.ts';
import { chooseSamples } from './samples.ts';
import type { Source } from './source.ts';
import type { ReinforcedOptions } from './stage.ts';
import type { TaskLines } from './task-lines.ts';
import { weigh } from './weigh.ts';
import type { Weighing } from './weigh.ts';

export interface ReinforceOptions extends ReinforcedOptions, Weighing {
  readonly stage: ExpandedReinforcedStage;
  readonly sources: readonly Source[];
  readonly phases: readonly Phase[];
  /** Prompts of each source in a step. */
  readonly sharesAt: (step: number) => readonly number[];
  /** What the step takes its tasks from. */
  readonly lines: TaskLines;
}

export async function reinforce(options: ReinforceOptions, step: number): Promise<StepResult> {
  const { phase } = phaseAt(options.phases, step);
  const gathered = await gather(options, phase, step);
  const groups_P = judgeBatch(options.stage, phase, gathered.groups_P);
  const result = await learn(options, { phase, step }, groups_P, gathered);
  return {
    ...result,
    metrics: { ...result.metrics, ...gathered.metrics },
    modes: modeMetrics(groups_P),
    ended: gathered.ended,
  };
}

async function learn(
  options: ReinforceOptions,
  { phase, step }: { readonly phase: Phase; readonly step: number },
  groups_P: readonly JudgedGroup[],
  { time_sample, time_score }: Gathered,
): Promise<StepResult> {
  const { policy, stage, phases, samplesPerStep } = options;
  const judged = groups_P.flatMap(({ rollouts_G }) => rollouts_G);
  const learnt = judged.filter(({ advantage, rollout }) => advantage !== null && rollout.response.length > 0);
  const samples = chooseSamples(groups_P, samplesPerStep);

  const started = performance.now();
  const pairs = learnt.map(({ rollout, advantage }) => ({ ...rollout, advantage }));
  const weighed = await weigh(options, pairs, phase.temperature);
  const { sequences } = weighed;
  const cause = nothingToLearn(sequences);
  if (cause !== undefined)
    return {
      type: 'skipped',
      cause,
      metrics: { ...rolloutMetrics(groups_P), ...weighed.metrics },
      samples,
      plan: [],
    };
  const { logProbs, metrics, plan, skipped } = await update(policy, sequences, stage, {
    step,
    steps: phases.reduce((total, { steps }) => total + steps, 0),
    temperature: phase.temperature,
  });
  const time_train = (performance.now() - started) / 1000;
  const tokens = judged.reduce((total, { rollout }) => total + rollout.response.length, 0);
  return {
    ...updatedOr(skipped),
    metrics: {
      ...rolloutMetrics(groups_P),
      ...weighed.metrics,
      ...metrics,
      ...samplerGap(
        learnt.map(({ rollout }) => rollout),
        logProbs,
      ),
      tokens,
      tokens_per_s: tokens / (time_sample + time_score + time_train),
      time_train,
    },
    samples,
    plan,
  };
}

/** Why an update would change nothing; momentum alone must not move the weights. A KL penalty needs no variance. */
function nothingToLearn(sequences: readonly WeightedSequence[]): string | undefined {
  if (sequences.length === 0) return 'no rollout of this batch has a token to learn from';
  return sequences.every(({ weights_T }) => weights_T.every((weight) => weight === 0))
    ? 'no group of this batch has any variance'
    : undefined;
}
