// How fast a stage goes, for people who watch.
import type { Progress } from '../../api/contract/job.ts';
import type { StepResult } from './stage-run.ts';

/** Reward, loss and rate of the last step, and the time left at the mean pace of the last twenty. */
export function paceOf(steps: number): (step: number, result: StepResult) => Partial<Progress> {
  const ends: number[] = [performance.now()];
  return (step, result) => {
    ends.push(performance.now());
    if (ends.length > 21) ends.shift();
    const seconds = (ends.at(-1)! - ends[0]!) / 1000 / (ends.length - 1);
    const { metrics } = result;
    return {
      reward: metrics['reward'] ?? null,
      loss: metrics['loss'] ?? null,
      tokens_per_s: metrics['tokens_per_s'] ?? null,
      seconds_left: seconds * (steps - step),
    };
  };
}
