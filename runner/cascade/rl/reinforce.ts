// One step of every RL stage: tasks -> rollouts -> rewards -> penalties -> advantages -> objective -> update (Nemotron-Cascade
// section 2: strictly on-policy, one update for each batch of rollouts, no entropy bonus).
// P: prompts of a step, G: rollouts of a group.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import type { Phase } from '../../../api/contract/stages/phase.ts';
import type { WeightedSequence } from '../../engine/learner/micro-batches.ts';
import type { Policy } from '../policy.ts';
import { updatedOr } from '../stage-run.ts';
import type { StepResult } from '../stage-run.ts';
import { update } from '../update.ts';
import { gather } from './gather.ts';
import { judgeBatch } from './judge.ts';
import { phaseAt } from './phase-at.ts';
import { rolloutMetrics, samplerGap } from './rollout-metrics.ts';
import { chooseSamples } from './samples.ts';
import type { Source } from './source.ts';
import type { ReinforcedOptions } from './stage.ts';
import { weigh } from './weigh.ts';
import type { Weighing } from './weigh.ts';

export interface ReinforceOptions extends ReinforcedOptions, Weighing {
  readonly policy: Policy;
  readonly stage: ExpandedReinforcedStage;
  readonly sources: readonly Source[];
  readonly phases: readonly Phase[];
}

export async function reinforce(options: ReinforceOptions, step: number): Promise<StepResult> {
  const { policy, stage, phases, samplesPerStep } = options;
  const { phase } = phaseAt(phases, step);
  const { groups_P: graded_P, time_sample, time_score } = await gather(options, phase, step);
  const groups_P = judgeBatch(stage, phase, graded_P);
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
      time_sample,
      time_score,
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
