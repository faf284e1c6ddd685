// The quantile of the standard normal distribution.

/** Acklam's rational approximation: relative error below 1.15e-9 for 0 < p < 1. */
export function normalQuantile(p: number): number {
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p < lowTail) {
    const q = Math.sqrt(-2 * Math.log(p));
    return polynomial(tail, q) / (polynomial(tailBelow, q) * q + 1);
  }
  const q = p - 0.5;
  const r = q * q;
  return (polynomial(middle, r) * q) / (polynomial(middleBelow, r) * r + 1);
}

const lowTail = 0.02425;
// Highest power first.
const middle = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
];
const middleBelow = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
];
const tail = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
];
const tailBelow = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];

const polynomial = (coefficients: readonly number[], x: number): number =>
  coefficients.reduce((total, coefficient) => total * x + coefficient, 0);
