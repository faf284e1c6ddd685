// Which rollouts of a step are kept to be looked at: evenly spread over the batch, so that several groups are seen.
import { askedMode } from '../asked-mode.ts';
import type { StepSample } from '../stage-run.ts';
import { rowOf } from './group.ts';
import type { Judged, JudgedGroup } from './judge.ts';

/** `count` rollouts at most. One task may have several groups in a step: rollouts are numbered within their group. */
export function chooseSamples(groups_P: readonly JudgedGroup[], count: number): StepSample[] {
  const all = groups_P.flatMap((group) => group.rollouts_G.map((judged, g) => ({ group, judged, g })));
  const stride = Math.max(1, all.length / Math.max(1, count));
  return Array.from({ length: Math.min(count, all.length) }, (_, i) => {
    const { group, judged, g } = all[Math.floor(i * stride)]!;
    return sample(group, judged, g);
  });
}

function sample(
  group: JudgedGroup,
  { rollout, outcome, reward, penalties, advantage }: Judged,
  index: number,
): StepSample {
  return {
    task: group.task,
    rollout: index,
    mode: askedMode(group.mode),
    prompt: rowOf(group).prompt,
    response: rollout.text,
    tokens: rollout.response.length,
    truncated: rollout.truncated,
    status: outcome.status,
    reward,
    parts: { ...(outcome.status === 'scored' ? outcome.parts : {}), ...penalties },
    code: outcome.status === 'scored' ? null : outcome.code,
    advantage,
  };
}
