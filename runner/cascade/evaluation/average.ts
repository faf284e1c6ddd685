// avg@k: the mean of a task's k rewards. pass@j: the chance that one of j samples is worth the most that its task can be.
import type { Task } from '../../../api/contract/task.ts';
import type { Verifier } from '../../rewards/verifier.ts';
import type { Graded } from '../graded.ts';
import { mean } from '../mean.ts';
import type { Measure } from './measured.ts';
import { passAt } from './pass-at.ts';

export function averages(
  suite: { readonly k: number; readonly pass_at: readonly number[] },
  rows: readonly Task[],
  verifier: Pick<Verifier, 'maxScore'>,
  graded_PG: readonly (readonly Graded[])[],
): Measure[] {
  const rewards_PG = graded_PG.map((graded_G) =>
    graded_G.flatMap(({ reward }) => (reward === null ? [] : [reward])),
  );
  const most_P = rows.map((row) => verifier.maxScore(row));
  const most = most_P.reduce((a, b) => Math.max(a, b), 0);
  return [
    {
      metric: `avg@${suite.k}`,
      values: rewards_PG.map((rewards) => (rewards.length === 0 ? null : mean(rewards))),
      most: Number.isFinite(most) && most > 0 ? most : undefined,
    },
    ...suite.pass_at.map((j) => ({
      metric: `pass@${j}`,
      values: rewards_PG.map((rewards, p) => {
        // Of fewer samples than j nothing unbiased can be said.
        if (rewards.length < j) return null;
        return passAt(rewards.length, rewards.filter((reward) => reward >= most_P[p]!).length, j);
      }),
      most: 1,
    })),
  ];
}
