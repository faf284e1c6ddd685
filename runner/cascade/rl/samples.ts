// Which rollouts of a step are kept to be looked at: evenly spread over domains, modes and the groups of each.
import { askedMode } from '../asked-mode.ts';
import type { Rollout } from '../rollout.ts';
import type { StepSample } from '../stage-run.ts';
import { rowOf } from './group.ts';
import type { TaskGroup } from './group.ts';
import type { Judged, JudgedGroup } from './judge.ts';
import type { PromptSource } from './source.ts';

interface SampledGroup extends TaskGroup<PromptSource> {
  readonly rollouts_G: readonly unknown[];
}

/**
 * `count` rollouts at most, in the order of the batch. One task may have several groups in a step: rollouts are numbered within
 * their group.
 */
export const chooseSamples = (groups_P: readonly JudgedGroup[], count: number): StepSample[] =>
  chosenOf(groups_P, count).map(({ group, g }) => sample(group, group.rollouts_G[g]!, g));

/** Groups, and places of rollouts within them. */
export function chosenOf<Group extends SampledGroup>(
  groups_P: readonly Group[],
  count: number,
): { readonly group: Group; readonly g: number }[] {
  const all = groups_P.flatMap((group) => group.rollouts_G.map((_, g) => ({ group, g })));
  const kinds = [...new Set(groups_P.map(kindOf))];
  const chosen = kinds.flatMap((kind, k) => {
    const own = all.filter(({ group }) => kindOf(group) === kind);
    const share = Math.floor((count + kinds.length - 1 - k) / kinds.length);
    return spread(own, share);
  });
  return all.filter((one) => chosen.includes(one));
}

const kindOf = ({ source, mode }: SampledGroup): string => `${source.domain}/${askedMode(mode)}`;

function spread<One>(all: readonly One[], count: number): One[] {
  const stride = Math.max(1, all.length / Math.max(1, count));
  return Array.from({ length: Math.min(count, all.length) }, (_, i) => all[Math.floor(i * stride)]!);
}

/** What is told of a rollout whoever judges it; `index`: its place in its group. */
export const sampledFields = (group: TaskGroup<PromptSource>, rollout: Rollout, index: number) => ({
  task: group.task,
  rollout: index,
  mode: askedMode(group.mode),
  prompt: rowOf(group).prompt,
  response: rollout.text,
  tokens: rollout.response.length,
  truncated: rollout.truncated,
});

function sample(
  group: JudgedGroup,
  { rollout, outcome, reward, penalties, advantage }: Judged,
  index: number,
): StepSample {
  return {
    ...sampledFields(group, rollout, index),
    status: outcome.status,
    reward,
    parts: { ...(outcome.status === 'scored' ? outcome.parts : {}), ...penalties },
    code: outcome.status === 'scored' ? null : outcome.code,
    advantage,
  };
}
