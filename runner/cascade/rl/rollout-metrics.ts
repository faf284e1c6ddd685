// What tells a working RL run from a broken one: reward and its parts, groups without signal, truncation, lengths, unscored share, and
// the gap between the sampler's and the trainer's log-probabilities; of a batch, of each of its domains, of each of its modes.
import type { ThinkingMode } from '../../engine/tokenizer/thinking.ts';
import { splitThinking } from '../../engine/tokenizer/thinking.ts';
import { askedMode } from '../asked-mode.ts';
import { mean } from '../mean.ts';
import type { Rollout } from '../rollout.ts';
import { MIN_STD } from './advantage.ts';
import type { JudgedGroup } from './judge.ts';
import { partMeans } from './part-means.ts';
import type { PromptSource } from './source.ts';

/**
 * `reward` is what the update saw, after every penalty; `reward_graded` what the grader gave. `language_mixing` is the share
 * of rollouts that mix languages, where the stage looks for it; unscored ones are not looked at. `response_length` is in tokens,
 * `thinking_length` and `answer_length` in characters, each of the responses that have such a part.
 */
function groupMetrics(groups_P: readonly JudgedGroup[]): Record<string, number> {
  const looksForMixing = groups_P.some(({ source }) => source.languageMixing !== 'off');
  const all = groups_P.flatMap(({ rollouts_G }) => rollouts_G);
  const scored = all.filter(({ reward }) => reward !== null);
  return {
    reward: mean(scored.map(({ reward }) => reward!)),
    reward_graded: mean(scored.map(({ outcome }) => (outcome.status === 'scored' ? outcome.value : 0))),
    reward_std: mean(groups_P.flatMap(({ std }) => (std === null ? [] : [std]))),
    zero_variance: mean(groups_P.map(({ std }) => (std !== null && std < MIN_STD ? 1 : 0))),
    dropped_groups: mean(groups_P.map(({ std }) => (std === null ? 1 : 0))),
    invalid: mean(all.map(({ outcome }) => (outcome.status === 'invalid' ? 1 : 0))),
    unscored: 1 - scored.length / all.length,
    ...responseMetrics(all.map(({ rollout }) => rollout)),
    ...partMeans(scored),
    ...(looksForMixing
      ? { language_mixing: mean(scored.map(({ penalties }) => ('language_mixing' in penalties ? 1 : 0))) }
      : {}),
  };
}

/** What responses look like, whatever they are worth. `thinking_length` and `answer_length` are absent where no response has that part. */
export const responseMetrics = (rollouts: readonly Rollout[]): Record<string, number> => ({
  truncated: mean(rollouts.map(({ truncated }) => (truncated ? 1 : 0))),
  response_length: mean(rollouts.map(({ response }) => response.length)),
  ...partLengths(rollouts),
});

function partLengths(rollouts: readonly Rollout[]): Record<string, number> {
  const split = rollouts.map(({ text }) => splitThinking(text, false));
  const lengths = (part: 'thinking' | 'answer'): number[] =>
    split.flatMap((response) => (response[part] === undefined ? [] : [response[part].length]));
  return Object.fromEntries(
    (['thinking', 'answer'] as const).flatMap((part) => {
      const of = lengths(part);
      return of.length === 0 ? [] : [[`${part}_length`, mean(of)]];
    }),
  );
}

/** Of the whole batch, and of each domain under `DOMAIN.` where there are several. */
export const rolloutMetrics = (groups_P: readonly JudgedGroup[]): Record<string, number> =>
  domainMetrics(groups_P, groupMetrics);

/** Of each mode by itself; undefined where a batch is all in one. */
export const modeMetrics = (groups_P: readonly JudgedGroup[]): ModeMetrics | undefined =>
  metricsByMode(groups_P, groupMetrics);

type Metrics = Record<string, number>;
export type ModeMetrics = Partial<Record<ThinkingMode, Metrics>>;

/** What `metricsOf` says of all, and of each domain under `DOMAIN.` where there are several. */
export function domainMetrics<One extends { readonly source: Pick<PromptSource, 'domain'> }>(
  all: readonly One[],
  metricsOf: (some: readonly One[]) => Metrics,
): Metrics {
  const domains = [...new Set(all.map(({ source }) => source.domain))];
  const whole = metricsOf(all);
  if (domains.length < 2) return whole;
  const each = domains.flatMap((domain) =>
    Object.entries(metricsOf(all.filter(({ source }) => source.domain === domain))).map(
      ([key, value]) => [`${domain}.${key}`, value] as const,
    ),
  );
  return { ...whole, ...Object.fromEntries(each) };
}

/** What `metricsOf` says of each mode by itself; undefined where all are of one. */
export function metricsByMode<One extends { readonly mode: ThinkingMode | undefined }>(
  all: readonly One[],
  metricsOf: (some: readonly One[]) => Metrics,
): ModeMetrics | undefined {
  const asked = [...new Set(all.map(({ mode }) => askedMode(mode)))];
  if (asked.length < 2) return undefined;
  return Object.fromEntries(
    asked.map((mode) => [mode, metricsOf(all.filter((one) => askedMode(one.mode) === mode))]),
  );
}

/**
 * Sampler against trainer on the same tokens, those of the responses: mean and largest |difference| of log-probabilities, and the mean
 * ratio pi_train / pi_sampler, which is 1 where both are the same policy.
 */
export function samplerGap(
  rollouts: readonly Pick<Rollout, 'logProbs'>[],
  trainer: readonly Float32Array[],
): Record<string, number> {
  let total = 0;
  let largest = 0;
  let ratio = 0;
  let tokens = 0;
  rollouts.forEach(({ logProbs }, i) => {
    for (let t = 0; t < logProbs.length; t += 1) {
      const difference = trainer[i]![t]! - logProbs[t]!;
      total += Math.abs(difference);
      largest = Math.max(largest, Math.abs(difference));
      ratio += Math.exp(difference);
    }
    tokens += logProbs.length;
  });
  return { gap_mean: total / tokens, gap_max: largest, ratio_mean: ratio / tokens };
}
