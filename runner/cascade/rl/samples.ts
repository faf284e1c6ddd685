// Which rollouts of a step are kept to be looked at: evenly spread over the batch, so that several groups are seen.
import type { Task } from '../../../api/contract/task.ts';
import type { Judged, JudgedGroup } from './judge.ts';
import type { StepSample } from '../stage-run.ts';

/** `count` rollouts at most. One task may have several groups in a step: rollouts are numbered within their group. */
export function chooseSamples(
  groups_P: readonly JudgedGroup[],
  rows: readonly Task[],
  count: number,
  mode: StepSample['mode'],
): StepSample[] {
  const all = groups_P.flatMap(({ rollouts_G }) => rollouts_G.map((judged, g) => ({ judged, g })));
  const stride = Math.max(1, all.length / Math.max(1, count));
  return Array.from({ length: Math.min(count, all.length) }, (_, i) => {
    const { judged, g } = all[Math.floor(i * stride)]!;
    return { ...sample(judged, g, rows), mode };
  });
}

function sample(
  { task, rollout, outcome, reward, penalties, advantage }: Judged,
  index: number,
  rows: readonly Task[],
): Omit<StepSample, 'mode'> {
  return {
    task,
    rollout: index,
    prompt: rows[task]!.prompt,
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
