// Cuts the sequences of one optimizer batch into micro-batches of few recurring shapes: sequences of like length stand
// together, padded on the right to a bucketed length, and the rows of a micro-batch are a power of two. What is left over
// goes into smaller powers of two, and only the last few tokens are filled up with empty rows: a handful of compiled
// sessions serves a whole run, and padding costs little.
// B: rows of a micro-batch, S: its padded length, T: tokens of one sequence.

/** A sequence to learn from: `weights_T[t]` is the ascent weight of predicting `tokens_T[t]` from what precedes it. */
export interface WeightedSequence {
  readonly tokens_T: Int32Array;
  readonly weights_T: Float32Array;
  /** Log-probabilities are wanted from this token on (0: of all); earlier tokens, the prompt, must have weight 0. */
  readonly scoredFrom?: number;
}

export interface MicroBatch {
  readonly B: number;
  readonly S: number;
  /** Row-major; zeros beyond each row's length. */
  readonly tokens_BS: Int32Array;
  readonly weights_BS: Float32Array;
  /** 0 for a row that only fills the shape. */
  readonly lengths_B: Int32Array;
  readonly scoredFrom_B: Int32Array;
  /** Index of each real row in the list that was cut. */
  readonly rows: readonly number[];
}

const LENGTH_STEP = 8;

/** Padded length: steps of 8 up to 64, then of an eighth of the power of two below, so that padding stays under an eighth. */
export function bucketLength(length: number): number {
  const step = Math.max(LENGTH_STEP, 2 ** Math.floor(Math.log2(Math.max(1, length - 1))) / 8);
  return Math.max(LENGTH_STEP, Math.ceil(length / step) * step);
}

/** `mostRows` gives the largest micro-batch, a power of two, of a padded length. The order is a function of the lengths alone. */
export function cutMicroBatches(
  sequences: readonly WeightedSequence[],
  mostRows: (length: number) => number,
): MicroBatch[] {
  const order = sequences
    .map((_, index) => index)
    .sort((a, b) => lengthOf(sequences[a]!) - lengthOf(sequences[b]!) || a - b);
  const byBucket = new Map<number, number[]>();
  for (const index of order) {
    const S = bucketLength(lengthOf(sequences[index]!));
    byBucket.set(S, [...(byBucket.get(S) ?? []), index]);
  }
  return [...byBucket].flatMap(([S, indices]) => {
    let begin = 0;
    return rowCounts(indices.length, S, mostRows(S)).map((B) =>
      fill(sequences, indices.slice(begin, (begin += B)), B, S),
    );
  });
}

const lengthOf = (sequence: WeightedSequence): number => sequence.tokens_T.length;

/** A micro-batch of fewer tokens costs as much as one of this many, so the last rows are filled up to it. */
const fewestTokens = 256;

/** Powers of two that hold `rows` rows. */
function rowCounts(rows: number, S: number, most: number): number[] {
  const counts: number[] = [];
  for (let left = rows; left > 0;) {
    const filled = Math.min(most, 2 ** Math.ceil(Math.log2(left)));
    const fills = filled <= left || filled * S <= fewestTokens || filled - left <= filled / 16;
    const count = fills ? filled : filled / 2;
    counts.push(count);
    left -= count;
  }
  return counts;
}

function fill(
  sequences: readonly WeightedSequence[],
  rows: readonly number[],
  B: number,
  S: number,
): MicroBatch {
  const tokens_BS = new Int32Array(B * S);
  const weights_BS = new Float32Array(B * S);
  const lengths_B = new Int32Array(B);
  const scoredFrom_B = new Int32Array(B);
  rows.forEach((index, b) => {
    const { tokens_T, weights_T, scoredFrom = 0 } = sequences[index]!;
    tokens_BS.set(tokens_T, b * S);
    weights_BS.set(weights_T, b * S);
    lengths_B[b] = tokens_T.length;
    scoredFrom_B[b] = scoredFrom;
  });
  return { B, S, tokens_BS, weights_BS, lengths_B, scoredFrom_B, rows };
}
