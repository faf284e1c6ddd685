// What tells a working distillation from a broken one: how far the policy is from its teachers, what tokens gain by them, how many are
// dropped, and which domains the tokens come from; of a batch, of each of its domains, of each of its modes.
import { sum } from '../mean.ts';
import { quantileOfSorted } from '../quantile.ts';
import { answerMetrics, domainMetrics, metricsByMode } from '../rl/rollout-metrics.ts';
import type { ModeMetrics } from '../rl/rollout-metrics.ts';
import { modeMetrics, rolloutMetrics } from '../rl/rollout-metrics.ts';
import type { Answer, AnsweredGroup } from './answers.ts';
import type { Taught } from './lesson.ts';
import type { DistillStep } from './options.ts';
import { gainAt } from './policy-gradient.ts';

type Metrics = Record<string, number>;
type Objective = DistillStep['stage']['objective'];

/** Mean of log(policy / teacher) over the tokens, nats: unbiased for KL(policy || teacher), so it may be negative. */
export function klOf(taught: readonly Pick<Taught, 'policy_T' | 'teacher_T'>[]): number {
  let total = 0;
  for (const { policy_T, teacher_T } of taught)
    for (let t = 0; t < policy_T.length; t += 1) total += policy_T[t]! - teacher_T[t]!;
  return total / tokensOf(taught);
}

const tokensOf = (taught: readonly Pick<Taught, 'policy_T'>[]): number =>
  sum(taught.map(({ policy_T }) => policy_T.length));

/**
 * `kl` and, with policy_gradient, `gated` (share of tokens whose ratio is outside) and quantiles of what tokens are worth,
 * `advantage_p05`, `_p50`, `_p95`; with divergence its mean. `loss` is the part that these tokens have in the batch's.
 */
function taughtMetrics(objective: Objective, taught: readonly Taught[]): Metrics {
  return {
    kl: klOf(taught),
    ...(objective.type === 'policy_gradient' ? gainMetrics(objective, taught) : divergenceMetrics(taught)),
  };
}

function gainMetrics(
  objective: Extract<Objective, { type: 'policy_gradient' }>,
  taught: readonly Taught[],
): Metrics {
  const tokens = tokensOf(taught);
  const advantages = new Float64Array(tokens);
  let [at, gated, loss] = [0, 0, 0];
  for (const one of taught)
    for (let t = 0; t < one.policy_T.length; t += 1) {
      const { advantage, gated: isGated, gain } = gainAt(objective, one, t);
      advantages[at++] = advantage;
      if (isGated) gated += 1;
      loss -= (gain / one.parts) * one.policy_T[t]!;
    }
  advantages.sort();
  return {
    loss,
    gated: gated / tokens,
    advantage_p05: quantileOfSorted(advantages, 0.05),
    advantage_p50: quantileOfSorted(advantages, 0.5),
    advantage_p95: quantileOfSorted(advantages, 0.95),
  };
}

function divergenceMetrics(taught: readonly Taught[]): Metrics {
  const sums = taught.map(({ divergence_T = [] }) => sum([...divergence_T]));
  return {
    loss: sum(sums.map((total, i) => total / taught[i]!.parts)),
    divergence: sum(sums) / tokensOf(taught),
  };
}

/** Of the answers as sampled: what they look like, what they are worth where they are graded, and what budgets leave out. */
export function answeredMetrics(
  groups_P: readonly AnsweredGroup[],
  left: ReadonlySet<Answer['rollout']>,
): Metrics {
  const judged_P = groups_P.flatMap(({ judged }) => judged ?? []);
  const budgeted = groups_P.some(({ source }) => source.tokenBudget !== undefined);
  return {
    ...(judged_P.length > 0
      ? rolloutMetrics(judged_P)
      : domainMetrics(groups_P, (some) => answerMetrics(some.flatMap(({ rollouts_G }) => rollouts_G)))),
    ...(budgeted
      ? domainMetrics(groups_P, (some) =>
          leftOutMetrics(
            some.flatMap(({ rollouts_G }) => rollouts_G),
            left,
          ),
        )
      : {}),
  };
}

/** Shares of what was sampled. */
function leftOutMetrics(
  rollouts: readonly Answer['rollout'][],
  left: ReadonlySet<Answer['rollout']>,
): Metrics {
  const out = rollouts.filter((rollout) => left.has(rollout));
  const tokens = (some: readonly Answer['rollout'][]): number =>
    sum(some.map(({ response }) => response.length));
  return {
    left_out_answers: out.length / rollouts.length,
    left_out_tokens: tokens(out) / tokens(rollouts),
  };
}

/** Of what was learnt from, and each domain's share of its tokens. */
export const lessonMetrics = (objective: Objective, taught: readonly Taught[]): Metrics => ({
  ...domainMetrics(taught, (some) => taughtMetrics(objective, some)),
  ...sharesOfTokens(taught),
});

function sharesOfTokens(taught: readonly Taught[]): Metrics {
  const domains = [...new Set(taught.map(({ source }) => source.domain))];
  if (domains.length < 2) return {};
  const all = tokensOf(taught);
  return Object.fromEntries(
    domains.map((domain) => [
      `${domain}.tokens_share`,
      tokensOf(taught.filter(({ source }) => source.domain === domain)) / all,
    ]),
  );
}

/** Of each mode by itself; undefined where the batch is all in one. */
export function distilledModes(
  objective: Objective,
  groups_P: readonly AnsweredGroup[],
  taught: readonly Taught[],
): ModeMetrics | undefined {
  const judged_P = groups_P.flatMap(({ judged }) => judged ?? []);
  const answered =
    judged_P.length > 0
      ? modeMetrics(judged_P)
      : metricsByMode(groups_P, (some) => answerMetrics(some.flatMap(({ rollouts_G }) => rollouts_G)));
  if (answered === undefined) return undefined;
  const lessons =
    taught.length === 0 ? undefined : metricsByMode(taught, (some) => taughtMetrics(objective, some));
  return Object.fromEntries(
    Object.entries(answered).map(([mode, metrics]) => [
      mode,
      { ...metrics, ...lessons?.[mode as keyof ModeMetrics] },
    ]),
  );
}
