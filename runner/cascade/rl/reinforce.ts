// One step of every RL stage: tasks -> rollouts -> rewards -> penalties -> advantages -> objective -> update (Nemotron-Cascade
// section 2: strictly on-policy, one update for each batch of rollouts, no KL, no entropy bonus).
// P: prompts of a step, G: rollouts of a group.
import type { ExpandedMathStage } from '../../../api/contract/expand.ts';
import type { Task } from '../../../api/contract/task.ts';
import { batchOf } from '../../data/order.ts';
import { drawKey } from '../../engine/random/draws.ts';
import { gradeGroups } from '../grading.ts';
import { tokenMean } from '../objective.ts';
import type { OutagePolicy } from '../outage.ts';
import { judge } from './judge.ts';
import type { Judged } from './judge.ts';
import { applyPenalties } from './penalties.ts';
import type { Verifier } from '../../rewards/verifier.ts';
import type { Policy } from '../policy.ts';
import { rolloutMetrics, samplerGap } from './rollout-metrics.ts';
import { sampleGroups, truncationOf } from '../rollout.ts';
import { askedMode } from '../asked-mode.ts';
import { chooseSamples } from './samples.ts';
import { updatedOr } from '../stage-run.ts';
import type { StepResult } from '../stage-run.ts';
import { update } from '../update.ts';

export interface ReinforceOptions {
  readonly grader: Verifier;
  /** Tokens of each row's prompt. */
  readonly prompts: readonly Int32Array[];
  readonly seed: number;
  readonly outage: OutagePolicy;
  readonly samplesPerStep: number;
}

export async function reinforce(
  policy: Policy,
  stage: ExpandedMathStage,
  rows: readonly Task[],
  { seed, samplesPerStep, grader, prompts, outage }: ReinforceOptions,
  step: number,
): Promise<StepResult> {
  const clock = stopwatch();
  const tasks_P = batchOf({ seed, stage: stage.name, rows: rows.length, size: stage.prompts_per_step }, step);
  const prompts_P = tasks_P.map((task) => prompts[task]!);
  const sampling = {
    rollouts: stage.rollouts,
    temperature: stage.temperature,
    maxResponse: stage.max_response,
    ...truncationOf(stage),
  };
  const rollouts_PG = await sampleGroups(
    policy,
    prompts_P,
    sampling,
    drawKey(seed, `rollouts/${stage.name}`, step),
  );
  const time_sample = clock();
  const graded_PG = await gradeGroups(
    grader,
    tasks_P.map((task) => rows[task]!),
    rollouts_PG,
    { stage: stage.name, step, suite: null },
    outage,
  );
  const asked_P = tasks_P.map((task) => rows[task]!.prompt);
  const groups_P = applyPenalties(stage, asked_P, graded_PG).map((penalised_G, p) =>
    judge(tasks_P[p]!, penalised_G),
  );
  const time_score = clock();

  const judged = groups_P.flatMap(({ rollouts_G }) => rollouts_G);
  const learnt = judged.filter(({ advantage, rollout }) => advantage !== null && rollout.response.length > 0);
  const samples = chooseSamples(groups_P, rows, samplesPerStep, askedMode(stage.mode));
  const cause = nothingToLearn(learnt);
  if (cause !== undefined)
    return { type: 'skipped', cause, metrics: rolloutMetrics(groups_P, stage), samples, plan: [] };
  const sequences = tokenMean(learnt.map(({ rollout, advantage }) => ({ ...rollout, advantage })));

  const { logProbs, metrics, plan, skipped } = await update(policy, sequences, stage, {
    step,
    steps: stage.steps,
    temperature: stage.temperature,
  });
  const time_train = clock();
  const tokens = judged.reduce((total, { rollout }) => total + rollout.response.length, 0);
  return {
    ...updatedOr(skipped),
    metrics: {
      ...rolloutMetrics(groups_P, stage),
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

/** Why an update would change nothing; momentum alone must not move the weights. */
function nothingToLearn(learnt: readonly Judged[]): string | undefined {
  if (learnt.length === 0) return 'no rollout of this batch has a token to learn from';
  return learnt.every(({ advantage }) => advantage === 0)
    ? 'no group of this batch has any variance'
    : undefined;
}

/** Seconds since the call before. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const seconds = (now - last) / 1000;
    last = now;
    return seconds;
  };
}
