// Math RL: the RL loop with the stage's grader (by default symbolic equality of the last stated answer).
import type { ExpandedMathStage } from '../../api/contract/expand.ts';
import type { Task } from '../../api/contract/task.ts';
import { createGrader } from '../rewards/grade.ts';
import type { Grading } from './grading.ts';
import type { Policy } from './policy.ts';
import { roomyPrompts } from './prompt.ts';
import { reinforce } from './rl/reinforce.ts';
import type { ReinforceOptions } from './rl/reinforce.ts';
import type { StageRun } from './stage-run.ts';

export function mathStage(
  policy: Policy,
  stage: ExpandedMathStage,
  rows: readonly Task[],
  { means, ...options }: Pick<ReinforceOptions, 'seed' | 'samplesPerStep'> & Grading,
): StageRun {
  const grader = createGrader(stage.grader, means);
  const room = { format: stage.prompt_format, maxResponse: stage.max_response, mode: stage.mode };
  const prompts = roomyPrompts(policy, rows, room, `stage ${stage.name}, dataset ${stage.data}`);
  const all = { ...options, grader, prompts };
  return { steps: stage.steps, step: (step) => reinforce(policy, stage, rows, all, step) };
}
