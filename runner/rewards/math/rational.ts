// Exact fractions of big integers, always in lowest terms with a positive denominator.
// Sizes are bounded: an answer written to exhaust us becomes undefined, not a hang.

export interface Rational {
  readonly over: bigint;
  readonly under: bigint;
}

/** About 1,200 decimal digits. */
const maxBits = 4096n;
const limit = 1n << maxBits;

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [abs(a), abs(b)];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

/** Undefined for a zero denominator and for what is too large. */
export function rational(over: bigint, under = 1n): Rational | undefined {
  if (under === 0n || abs(over) > limit || abs(under) > limit) return undefined;
  const divisor = greatestCommonDivisor(over, under) * (under < 0n ? -1n : 1n);
  return { over: over / divisor, under: under / divisor };
}

export const add = (a: Rational, b: Rational) =>
  rational(a.over * b.under + b.over * a.under, a.under * b.under);
export const multiply = (a: Rational, b: Rational) => rational(a.over * b.over, a.under * b.under);
export const divide = (a: Rational, b: Rational) => rational(a.over * b.under, a.under * b.over);
export const negate = (a: Rational): Rational => ({ over: -a.over, under: a.under });

/** Integer exponents up to 512 in size. */
export function power(base: Rational, exponent: Rational): Rational | undefined {
  if (exponent.under !== 1n || abs(exponent.over) > 512n) return undefined;
  if (base.over === 0n && exponent.over <= 0n) return undefined;
  const size = Number(abs(exponent.over));
  const digits = Math.max(base.over.toString(2).length, base.under.toString(2).length);
  if (digits * size > Number(maxBits) + 2) return undefined;
  const [over, under] = [base.over ** BigInt(size), base.under ** BigInt(size)];
  return exponent.over < 0n ? rational(under, over) : rational(over, under);
}

export const sameRational = (a: Rational, b: Rational): boolean => a.over === b.over && a.under === b.under;

/** A decimal such as "12", "-0.50" or ".5", exactly. */
export function decimal(text: string): Rational | undefined {
  const match = /^(\d*)(?:\.(\d*))?$/.exec(text);
  if (match === null || text.length > 1200) return undefined;
  const [, whole = '', fraction = ''] = match;
  if (whole + fraction === '') return undefined;
  return rational(BigInt(whole + fraction), 10n ** BigInt(fraction.length));
}
