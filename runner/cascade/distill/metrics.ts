// What tells a working distillation from a broken one: how far the policy is from its teachers, what tokens are worth to them, how many
// are dropped, and which domains the tokens come from; of a batch, of each of its domains, of each of its modes.
import { askedMode } from '../asked-mode.ts';
import { sum } from '../mean.ts';
import { quantileOfSorted } from '../quantile.ts';
import {
  domainMetrics,
  metricsByMode,
  modeMetrics,
  responseMetrics,
  rolloutMetrics,
} from '../rl/rollout-metrics.ts';
import type { ModeMetrics } from '../rl/rollout-metrics.ts';
import type { DistillStepOptions } from './options.ts';
import { weightAt } from './policy-gradient.ts';
import type { SampledGroup, SampledRollout } from './rollouts.ts';
import type { DistilledRollout } from './teacher-batch.ts';

type Metrics = Record<string, number>;
type Objective = DistillStepOptions['stage']['objective'];
type LogProbs = Pick<DistilledRollout, 'policyLogProbs_T' | 'teacherLogProbs_T'>;

/** Mean of log(policy / teacher) over the tokens, nats: unbiased for KL(policy || teacher), so it may be negative. */
export function klOf(distilled: readonly LogProbs[]): number {
  let total = 0;
  for (const { policyLogProbs_T, teacherLogProbs_T } of distilled)
    for (let t = 0; t < policyLogProbs_T.length; t += 1)
      total += policyLogProbs_T[t]! - teacherLogProbs_T[t]!;
  return total / tokensOf(distilled);
}

const tokensOf = (distilled: readonly Pick<LogProbs, 'policyLogProbs_T'>[]): number =>
  sum(distilled.map(({ policyLogProbs_T }) => policyLogProbs_T.length));

/**
 * `kl` and, with policy_gradient, `gated` (share of tokens whose ratio is outside) and quantiles of what tokens are worth,
 * `advantage_p05`, `_p50`, `_p95`; with divergence its mean. `loss` is the part that these tokens have in the batch's.
 */
function tokenMetrics(objective: Objective, distilled: readonly DistilledRollout[]): Metrics {
  return {
    kl: klOf(distilled),
    ...(objective.type === 'policy_gradient'
      ? weightMetrics(objective, distilled)
      : divergenceMetrics(distilled)),
  };
}

function weightMetrics(
  objective: Extract<Objective, { type: 'policy_gradient' }>,
  distilled: readonly DistilledRollout[],
): Metrics {
  const tokens = tokensOf(distilled);
  const advantages = new Float64Array(tokens);
  let [at, gated, loss] = [0, 0, 0];
  for (const one of distilled)
    for (let t = 0; t < one.policyLogProbs_T.length; t += 1) {
      const { advantage, gated: isGated, weight } = weightAt(objective, one, t);
      advantages[at++] = advantage;
      if (isGated) gated += 1;
      loss -= (weight / one.normalizer) * one.policyLogProbs_T[t]!;
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

function divergenceMetrics(distilled: readonly DistilledRollout[]): Metrics {
  const sums = distilled.map(({ divergences_T = [] }) => sum([...divergences_T]));
  return {
    loss: sum(sums.map((total, i) => total / distilled[i]!.normalizer)),
    divergence: sum(sums) / tokensOf(distilled),
  };
}

/** Of the rollouts as sampled: what they look like, what they are worth where they are graded, and what budgets leave out. */
export function sampledMetrics(
  groups_P: readonly SampledGroup[],
  leftOut: ReadonlySet<SampledRollout['rollout']>,
): Metrics {
  const judged_P = groups_P.flatMap(({ judged }) => judged ?? []);
  const budgeted = groups_P.some(({ source }) => source.tokenBudget !== undefined);
  return {
    ...(judged_P.length > 0 ? rolloutMetrics(judged_P) : domainMetrics(groups_P, plainMetrics)),
    ...(budgeted ? domainMetrics(groups_P, (some) => leftOutMetrics(some, leftOut)) : {}),
  };
}

/** Of rollouts that nobody grades. */
const plainMetrics = (groups_P: readonly SampledGroup[]): Metrics =>
  responseMetrics(groups_P.flatMap(({ rollouts_G }) => rollouts_G));

/** Shares of what was sampled. */
function leftOutMetrics(
  groups_P: readonly SampledGroup[],
  leftOut: ReadonlySet<SampledRollout['rollout']>,
): Metrics {
  const rollouts = groups_P.flatMap(({ rollouts_G }) => rollouts_G);
  const out = rollouts.filter((rollout) => leftOut.has(rollout));
  const tokens = (some: readonly SampledRollout['rollout'][]): number =>
    sum(some.map(({ response }) => response.length));
  return {
    left_out_rollouts: out.length / rollouts.length,
    left_out_tokens: tokens(out) / tokens(rollouts),
  };
}

/**
 * Of what was learnt from and, where several domains were sampled, of each under `DOMAIN.`, with its share of the tokens: 0 of a domain
 * none of whose rollouts was left.
 */
export function distilledMetrics(
  objective: Objective,
  groups_P: readonly SampledGroup[],
  distilled: readonly DistilledRollout[],
): Metrics {
  if (distilled.length === 0) return {};
  const whole = tokenMetrics(objective, distilled);
  const domains = [...new Set(groups_P.map(({ source }) => source.domain))];
  if (domains.length < 2) return whole;
  const tokens = tokensOf(distilled);
  const each = domains.flatMap((domain) => {
    const own = distilled.filter(({ source }) => source.domain === domain);
    const metrics = {
      ...(own.length === 0 ? {} : tokenMetrics(objective, own)),
      tokens_share: tokensOf(own) / tokens,
    };
    return Object.entries(metrics).map(([key, value]) => [`${domain}.${key}`, value] as const);
  });
  return { ...whole, ...Object.fromEntries(each) };
}

/** Of each mode by itself; undefined where the batch is all in one. */
export function modesOfBatch(
  objective: Objective,
  groups_P: readonly SampledGroup[],
  distilled: readonly DistilledRollout[],
): ModeMetrics | undefined {
  const judged_P = groups_P.flatMap(({ judged }) => judged ?? []);
  const sampled = judged_P.length > 0 ? modeMetrics(judged_P) : metricsByMode(groups_P, plainMetrics);
  if (sampled === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(sampled).map(([mode, metrics]) => {
      const own = distilled.filter((one) => askedMode(one.mode) === mode);
      return [mode, { ...metrics, ...(own.length === 0 ? {} : tokenMetrics(objective, own)) }];
    }),
  );
}
