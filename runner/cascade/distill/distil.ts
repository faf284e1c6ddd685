// One step of on-policy distillation: tasks -> answers -> what their teachers say of them -> weights -> update (Nemotron-Cascade 2,
// section 4.4). Strictly on-policy, one update for each batch of answers.
import { sum } from '../mean.ts';
import { samplerGap } from '../rl/rollout-metrics.ts';
import { updatedOr } from '../stage-run.ts';
import type { StepResult } from '../stage-run.ts';
import { optimize } from '../update.ts';
import { answersOf, flatAnswers } from './answers.ts';
import type { Answer, Answered } from './answers.ts';
import { measureDistances } from './distance.ts';
import { learn } from './learn.ts';
import type { Learnt } from './learn.ts';
import type { Taught } from './lesson.ts';
import { answeredMetrics, distilledModes, lessonMetrics } from './metrics.ts';
import type { DistillStep } from './options.ts';
import { gainAt } from './policy-gradient.ts';
import { distilledSamples } from './samples.ts';
import { withinBudget } from './token-budget.ts';

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

interface Chosen {
  readonly learnt: readonly Answer[];
  /** By budgets. */
  readonly left: ReadonlySet<Answer['rollout']>;
}

/** What a filter leaves out takes no budget. */
function chosenAnswers({ stage, sources }: DistillStep, answers: readonly Answer[]): Chosen {
  const usable = answers.filter(
    ({ rollout }) => rollout.response.length > 0 && !(stage.overlong === 'filter' && rollout.truncated),
  );
  const left = new Set(
    sources.flatMap((source) => {
      const own = usable.filter((answer) => answer.source === source);
      const within = withinBudget(
        own.map(({ rollout }) => rollout.response.length),
        source.tokenBudget,
      );
      return own.flatMap(({ rollout }, i) => (within[i] === true ? [] : [rollout]));
    }),
  );
  return { learnt: usable.filter(({ rollout }) => !left.has(rollout)), left };
}

interface Update extends Pick<StepResult, 'plan' | 'metrics'> {
  readonly taught: readonly Taught[];
  readonly times: Partial<Learnt['times']>;
  readonly skipped: string | undefined;
}

async function updateFrom(options: DistillStep, answers: readonly Answer[], step: number): Promise<Update> {
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
  if (teachesNothing(stage.objective, taught))
    return {
      ...told,
      times,
      skipped: 'no token of this batch has a weight: policy and teachers agree, or every ratio is outside the gate',
    };
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

/** `tokens` are those sampled, whether learnt from or not. */
function rateMetrics(
  groups_P: Answered['groups_P'],
  { time_sample, time_score = 0, time_teach = 0, time_train }: Answered['times'] & Update['times'],
): Record<string, number> {
  if (time_train === undefined) return {};
  const tokens = sum(
    groups_P.flatMap(({ rollouts_G }) => rollouts_G.map(({ response }) => response.length)),
  );
  return { tokens, tokens_per_s: tokens / (time_sample + time_score + time_teach + time_train) };
}
