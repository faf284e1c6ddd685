// The first half of a step: which tasks, their rollouts by the policy as it stands, and what these are worth. With the batch filter it
// goes on in rounds, each of as many tasks as groups are missing.
import type { Phase } from '../../../api/contract/stages/phase.ts';
import { drawKey } from '../../engine/random/draws.ts';
import { mean, sum } from '../mean.ts';
import { isAccepted, trimmed } from './batch-filter.ts';
import { standingOf } from './epoch-filter.ts';
import { missingOf, quotasOf, requestsOf } from './group-request.ts';
import { rowOf } from './group.ts';
import type { GradedGroup } from './group.ts';
import type { StepOptions } from './options.ts';
import { sampleRound } from './sample-round.ts';
import type { Round, RoundTimes } from './sample-round.ts';

export interface Gathered {
  readonly groups_P: readonly GradedGroup[];
  /** Of all rounds. */
  readonly times: RoundTimes;
  /** What curricula do: what the groups themselves do not tell. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Why the stage has no further step. */
  readonly ended: string | undefined;
}

/** Takes from `lines`, which are the caller's to keep or to drop. */
export async function gather(options: StepOptions, phase: Phase, step: number): Promise<Gathered> {
  const { stage, sources, seed, sharesAt } = options;
  const quotas = quotasOf(sources, sharesAt(step));
  const key = drawKey(seed, `rollouts/${stage.name}`, step);
  const filter = stage.filter.type === 'batch' ? stage.filter : undefined;
  const rounds: Round[] = [];
  let groups: GradedGroup[] = [];
  let first = 0;
  while (sum(missingOf(quotas, groups).map(({ count }) => count)) > 0) {
    if (rounds.length >= (filter?.most_rounds ?? 1)) break;
    const requests = requestsOf(options, missingOf(quotas, groups), { step, round: rounds.length });
    if (requests.length === 0) break;
    const round = await sampleRound(options, requests, phase, { key, first });
    rounds.push(round);
    first += requests.length;
    groups = [...groups, ...round.groups_P.filter((group) => filter === undefined || isAccepted(group))];
  }
  noteVisits(options, groups);
  const ended = endOf(options, groups, rounds.length);
  if (ended !== undefined) groups = trimmed(groups);
  return {
    groups_P: groups,
    times: timesOf(rounds),
    metrics: { ...lineMetrics(options), ...(filter === undefined ? {} : filterMetrics(rounds)) },
    ended,
  };
}

/** In the order of the batch: of two visits in one step the later one counts. */
function noteVisits({ stage, sources, lines }: StepOptions, groups: readonly GradedGroup[]): void {
  if (stage.filter.type !== 'epoch') return;
  for (const group of groups) {
    const { source, task, rollouts_G } = group;
    const standing = standingOf(
      rollouts_G.map(({ reward }) => reward),
      source.verifier.maxScore(rowOf(group)),
    );
    if (standing !== undefined) lines.lines[sources.indexOf(source)]!.visited(task, standing);
  }
}

function endOf(
  { stage, sources, lines }: StepOptions,
  groups: readonly GradedGroup[],
  rounds: number,
): string | undefined {
  const wanted = stage.prompts_per_step;
  if (groups.length === wanted) return undefined;
  if (stage.filter.type === 'batch')
    return `the batch filter found ${groups.length} of ${wanted} groups with mixed outcomes in ${rounds} rounds of sampling${uneven(groups)}`;
  const empty = sources.filter((_, i) => lines.lines[i]!.listed === 0).map(({ domain }) => domain);
  return `the epoch filter left no task of ${empty.join(', ')}: all were right or all wrong in every rollout`;
}

/** What `trimmed` takes away; empty where it takes nothing. */
function uneven(groups: readonly GradedGroup[]): string {
  const surplus = groups.length - trimmed(groups).length;
  return surplus === 0
    ? ''
    : `, ${surplus} of them without one of the other mode beside it, so not trained on`;
}

/** Of all sources together. */
function lineMetrics({ stage, sources, lines }: StepOptions): Record<string, number> {
  if (stage.filter.type !== 'epoch') return {};
  const active = sum(lines.lines.map(({ listed }) => listed));
  const tasks = sum(sources.map(({ rows }) => rows.length));
  return {
    epoch: Math.min(...lines.lines.map(({ epoch }) => epoch)),
    active_tasks: active,
    dropped_tasks: tasks - active,
  };
}

const timesOf = (rounds: readonly Round[]): RoundTimes => ({
  time_sample: sum(rounds.map(({ times }) => times.time_sample)),
  time_score: sum(rounds.map(({ times }) => times.time_score)),
  time_score_total: sum(rounds.map(({ times }) => times.time_score_total)),
});

/** `reward_sampled` is of all rollouts, of rejected groups too: what passes the filter is no sample of what the policy can do. */
function filterMetrics(rounds: readonly Round[]): Record<string, number> {
  const sampled = rounds.flatMap(({ groups_P }) => groups_P);
  const rewards = sampled.flatMap(({ rollouts_G }) =>
    rollouts_G.flatMap(({ reward }) => (reward === null ? [] : [reward])),
  );
  return {
    rounds: rounds.length,
    accepted: sampled.filter(isAccepted).length / sampled.length,
    reward_sampled: mean(rewards),
  };
}
