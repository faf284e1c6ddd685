// Validation loss: the negative log-probability of the answers of sft rows, by the policy as it stands and at temperature 1. Nothing
// is sampled.
import type { SftRow } from '../../../api/contract/task.ts';
import { Diverged } from '../diverged.ts';
import { mean } from '../mean.ts';
import { sftWeights } from '../objective.ts';
import type { Policy } from '../policy.ts';
import { answerPairs } from '../prompt.ts';
import type { AnswerPairs } from '../prompt.ts';
import type { Measure } from './measured.ts';

/**
 * A row's value is the mean over its answer's tokens, so that rows count alike (an SFT step's `loss` is the mean over the tokens of
 * its batch: long answers count more there).
 */
export async function loss(
  policy: Policy,
  rows: readonly SftRow[],
  options: AnswerPairs,
  where: string,
): Promise<Measure> {
  const pairs = answerPairs(policy, rows, options, where);
  const { logProbs } = await policy.learner.score(sftWeights(pairs), { temperature: 1 });
  const values = logProbs.map((logProbs_T, row) => {
    const value = -mean([...logProbs_T.subarray(pairs[row]!.prompt.length)]);
    if (!Number.isFinite(value))
      throw new Diverged(`${where}, row ${row}: its loss is ${value}: the model has diverged`);
    return value;
  });
  return { metric: 'loss', values, most: undefined };
}
