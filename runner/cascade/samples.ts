// Which rollouts of a step are kept to be looked at: evenly spread over the batch, so that several groups are seen.
import type { MathRow } from '../../api/contract/task.ts';
import type { Judged } from './judge.ts';
import type { StepSample } from './stage-run.ts';

/** `judged` is in group order; `count` of them at most. */
export function chooseSamples(
  judged: readonly Judged[],
  rows: readonly MathRow[],
  count: number,
): StepSample[] {
  const G = judged.findIndex(({ task }) => task !== judged[0]?.task);
  const stride = Math.max(1, judged.length / Math.max(1, count));
  return Array.from({ length: Math.min(count, judged.length) }, (_, i) => {
    const index = Math.floor(i * stride);
    return sample(judged[index]!, index % (G === -1 ? judged.length : G), rows);
  });
}

function sample(
  { task, rollout, outcome, reward, advantage }: Judged,
  index: number,
  rows: readonly MathRow[],
): StepSample {
  return {
    task,
    rollout: index,
    mode: 'non_thinking',
    prompt: rows[task]!.prompt,
    response: rollout.text,
    tokens: rollout.response.length,
    truncated: rollout.truncated,
    status: outcome.status,
    reward,
    parts: outcome.status === 'scored' ? outcome.parts : {},
    code: outcome.status === 'invalid' ? outcome.code : outcome.status === 'unscored' ? outcome.cause : null,
    advantage,
  };
}
