// Bradley-Terry: P(chosen over rejected) = sigmoid(r+ - r-). Pure arithmetic in float64 on the margins r+ - r- of pairs
// (Nemotron-Cascade, arXiv 2512.13607, section 4.2).
import { mean } from '../mean.ts';

export interface BradleyTerry {
  /** - mean log sigmoid(margin), in nats: log 2 where no pair is told apart. */
  readonly loss: number;
  /** Derivatives of the loss by the margins [P]: by r+ of a pair, and less that by its r-. */
  readonly slopes_P: readonly number[];
}

export function bradleyTerry(margins_P: readonly number[]): BradleyTerry {
  const pairs = margins_P.length;
  return {
    loss: mean(margins_P.map(softplusOfMinus)),
    slopes_P: margins_P.map((margin) => -1 / (1 + Math.exp(margin)) / pairs),
  };
}

/** log(1 + exp(-x)) = -log sigmoid(x), without overflow and without a sum that swallows its small part. */
const softplusOfMinus = (x: number): number => Math.max(-x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** Whether a pair is ordered as its row says: 1, 0, and 1/2 where both answers score alike. */
export const isOrdered = (margin: number): number => (Math.sign(margin) + 1) / 2;

/** r+ - r- of pairs whose values [2P] lie chosen, rejected, chosen, … */
export const marginsOf = (values_N: ArrayLike<number>): number[] =>
  Array.from({ length: values_N.length / 2 }, (_, pair) => values_N[2 * pair]! - values_N[2 * pair + 1]!);

/** Pearson's r; undefined where it is: one of the two does not vary. */
export function correlation(x: readonly number[], y: readonly number[]): number | undefined {
  const [mx, my] = [mean(x), mean(y)];
  let [xy, xx, yy] = [0, 0, 0];
  x.forEach((value, i) => {
    const [dx, dy] = [value - mx, y[i]! - my];
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  });
  return xx > 0 && yy > 0 ? Math.min(1, Math.max(-1, xy / Math.sqrt(xx * yy))) : undefined;
}
