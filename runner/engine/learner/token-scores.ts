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

/**
 * The ascent weight of a scored token, by the indices of its sequence and in it, from its log-probability as it now is: nothing
 * is differentiated through it. Every scored token is asked for once, in an order that depends on how the batch is cut.
 */
export type Weigh = (sequence: number, token: number, logProb: number) => number;

export interface ScoreOptions {
  readonly temperature: number;
  /** The gradient of - sum weights * log-probability is added. */
  readonly train?: boolean;
  /** In training, instead of the sequences' weights. */
  readonly weigh?: Weigh | undefined;
}

/** Numbers of scored tokens by sequence and token, 0 where none is scored, filled in as micro-batches come out. */
export class TokenColumn {
  readonly byToken: readonly Float32Array[];

  constructor(sequences: readonly WeightedSequence[]) {
    this.byToken = sequences.map(({ tokens_T }) => new Float32Array(tokens_T.length));
  }

  put(microBatch: MicroBatch, { rows_R }: HeadRows, values_R: Float32Array): void {
    eachScored(microBatch, rows_R, (sequence, token, r) => {
      this.byToken[sequence]![token] = values_R[r]!;
    });
  }
}

/** A row predicts the token after it. */
function eachScored(
  { S, rows }: MicroBatch,
  rows_R: Int32Array,
  visit: (sequence: number, token: number, r: number) => void,
): void {
  rows_R.forEach((row, r) => visit(rows[Math.floor(row / S)]!, (row % S) + 1, r));
}

/** The mean of what comes out of rows. */
export class RowMean {
  #sum = 0;
  #rows = 0;

  put(values_R: Float32Array): void {
    for (const value of values_R) this.#sum += value;
    this.#rows += values_R.length;
  }

  get mean(): number {
    return this.#rows === 0 ? 0 : this.#sum / this.#rows;
  }
}

export function checkTemperature(temperature: number): void {
  if (!(temperature > 0))
    throw new RangeError(`learner: the temperature must be above 0, got ${temperature}`);
}

/** `passes` must be those of a language head. */
export async function tokenScores(
  passes: Passes,
  sequences: readonly WeightedSequence[],
  { temperature, train = false, weigh }: ScoreOptions,
): Promise<Scores> {
  checkTemperature(temperature);
  passes.expectHead('language head', 'log-probabilities');
  const logProbs = new TokenColumn(sequences);
  const entropy = new RowMean();
  const take = (microBatch: MicroBatch, rows: HeadRows, result: HeadResult): void => {
    logProbs.put(microBatch, rows, result['log_probs']!);
    entropy.put(result['entropy']!);
  };
  const call = {
    scalars: { inverse_temperature: 1 / temperature },
    rowsOf: scoredRows,
    weigh: weigh && weighing(weigh),
    take,
  };
  const plan = await passes.run(sequences, call, train);
  return { logProbs: logProbs.byToken, meanEntropy: entropy.mean, plan };
}

const weighing =
  (weigh: Weigh) =>
  (microBatch: MicroBatch, rows: HeadRows, result: HeadResult): HeadRows => {
    const weights = new Float32Array(rows.rows_R.length);
    eachScored(microBatch, rows.rows_R, (sequence, token, r) => {
      weights[r] = weigh(sequence, token, result['log_probs']![r]!);
    });
    return { ...rows, inputs: { ...rows.inputs, weights } };
  };
