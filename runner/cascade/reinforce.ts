// One step of every RL stage: tasks -> rollouts -> rewards -> advantages -> objective -> update (Nemotron-Cascade
// section 2: strictly on-policy, one update for each batch of rollouts, no KL, no entropy bonus).
// P: prompts of a step, G: rollouts of a group.
import type { ExpandedMathStage } from '../../api/contract/expand.ts';
import type { MathRow } from '../../api/contract/task.ts';
import { batchOf } from '../data/order.ts';
import { drawKey } from '../engine/random/draws.ts';
import { groupAdvantage } from './advantage.ts';
import { gradeGroup } from './grading.ts';
import type { Graded } from './grading.ts';
import { tokenMean } from './objective.ts';
import { applyOverlong } from './overlong.ts';
import type { TaskGrader } from '../rewards/grade.ts';
import type { Policy } from './policy.ts';
import { promptTokens } from './prompt.ts';
import { rolloutMetrics, samplerGap } from './rollout-metrics.ts';
import { sampleGroups } from './rollout.ts';
import { chooseSamples } from './samples.ts';
import type { StepResult } from './stage-run.ts';
import { update } from './update.ts';

export interface ReinforceOptions {
  readonly grader: TaskGrader;
  readonly seed: number;
  readonly samplesPerStep: number;
}

/** A graded rollout with what the update makes of it; a null advantage keeps it out of the loss and out of N. */
export interface Judged extends Graded {
  readonly task: number;
  readonly advantage: number | null;
}

export interface JudgedGroup {
  readonly rollouts_G: readonly Judged[];
  /** Of the rewards after the overlong policy; null where the group was dropped. */
  readonly std: number | null;
}

export async function reinforce(
  policy: Policy,
  stage: ExpandedMathStage,
  rows: readonly MathRow[],
  { seed, samplesPerStep, grader }: ReinforceOptions,
  step: number,
): Promise<StepResult> {
  const clock = stopwatch();
  const tasks_P = batchOf({ seed, stage: stage.name, rows: rows.length, size: stage.prompts_per_step }, step);
  const prompts_P = tasks_P.map((task) =>
    promptTokens(policy.tokenizer, rows[task]!.prompt, stage.prompt_format),
  );
  const sampling = {
    rollouts: stage.rollouts,
    temperature: stage.temperature,
    maxResponse: stage.max_response,
  };
  const rollouts_PG = await sampleGroups(
    policy,
    prompts_P,
    sampling,
    drawKey(seed, `rollouts/${stage.name}`, step),
  );
  const time_sample = clock();
  const groups_P = await Promise.all(
    rollouts_PG.map(async (rollouts_G, p) =>
      judge(stage, tasks_P[p]!, await gradeGroup(grader, rows[tasks_P[p]!]!, rollouts_G)),
    ),
  );
  const time_score = clock();

  const judged = groups_P.flatMap(({ rollouts_G }) => rollouts_G);
  const learnt = judged.filter(({ advantage, rollout }) => advantage !== null && rollout.response.length > 0);
  const samples = chooseSamples(judged, rows, samplesPerStep);
  const sequences = tokenMean(learnt.map(({ rollout, advantage }) => ({ ...rollout, advantage })));
  if (sequences.length === 0)
    return { type: 'skipped', cause: 'no rollout of this batch has a token to learn from', samples };

  const { logProbs, metrics } = await update(policy, sequences, stage, {
    step,
    steps: stage.steps,
    temperature: stage.temperature,
  });
  const time_train = clock();
  const tokens = judged.reduce((total, { rollout }) => total + rollout.response.length, 0);
  return {
    type: 'updated',
    metrics: {
      ...rolloutMetrics(groups_P),
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
  };
}

/** Overlong policy, then the group's advantages: masked rollouts stay in mean and std, and leave the loss. */
function judge(stage: ExpandedMathStage, task: number, graded_G: readonly Graded[]): JudgedGroup {
  const adjusted_G = graded_G.map(({ reward, rollout }) =>
    reward === null
      ? null
      : applyOverlong(stage.overlong, reward, rollout.response.length, rollout.truncated, stage.max_response),
  );
  const { advantages_G, std } = groupAdvantage(adjusted_G.map((adjusted) => adjusted?.reward ?? null));
  const rollouts_G = graded_G.map((graded, g) => ({
    ...graded,
    reward: adjusted_G[g]?.reward ?? null,
    task,
    advantage: adjusted_G[g]?.inLoss === true ? advantages_G[g]! : null,
  }));
  return { rollouts_G, std };
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
