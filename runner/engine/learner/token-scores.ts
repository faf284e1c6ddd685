// Log-probabilities of the tokens of given sequences: what the language head makes of them, put together by sequence.

import type { HeadRows, HeadResult } from './head.ts';
import type { LengthPlan } from './memory-plan.ts';
import type { MicroBatch, WeightedSequence } from './micro-batches.ts';
import type { Passes } from './passes.ts';
import { scoredRows } from './scored-rows.ts';

export interface Scores {
  /** By sequence and token, 0 at the first token and before `scoredFrom`: log pi at the temperature. */
  readonly logProbs: readonly Float32Array[];
  /** Mean entropy in nats, at the temperature, over the scored tokens; 0 where there are none. */
  readonly meanEntropy: number;
  /** How the sequences were run, by padded length. */
  readonly plan: readonly LengthPlan[];
}

/** `passes` must be those of a language head. With `train` the gradient of - sum weights * log-probability is added. */
export async function tokenScores(
  passes: Passes,
  sequences: readonly WeightedSequence[],
  temperature: number,
  train: boolean,
): Promise<Scores> {
  if (!(temperature > 0))
    throw new RangeError(`learner: the temperature must be above 0, got ${temperature}`);
  passes.expectHead('language head', 'log-probabilities');
  const logProbs = sequences.map(({ tokens_T }) => new Float32Array(tokens_T.length));
  let entropy = 0;
  let scored = 0;
  const take = ({ S, rows }: MicroBatch, { rows_R }: HeadRows, result: HeadResult): void => {
    rows_R.forEach((row, r) => {
      logProbs[rows[Math.floor(row / S)]!]![(row % S) + 1] = result['log_probs']![r]!;
    });
    for (const value of result['entropy']!) entropy += value;
    scored += rows_R.length;
  };
  const scalars = { inverse_temperature: 1 / temperature };
  const plan = await passes.run(sequences, { scalars, rowsOf: scoredRows, take }, train);
  return { logProbs, meanEntropy: scored === 0 ? 0 : entropy / scored, plan };
}
