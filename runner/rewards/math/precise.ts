// Values of formulas without variables, with a hundred digits, and whether two of them are the same number.
import { isNumber } from '@cortex-js/compute-engine';
import type { ComputeEngine } from '@cortex-js/compute-engine';
import type { Node } from './formula.ts';

const digits = 100;
/** Twenty digits less than computed: what cancellation in a formula of the size of an answer may cost. */
const agreeing = 80;
/** Powers of ten. Beyond, numbers of the size of an answer may agree in all digits computed: 100! and 100! + 1. */
const trusted = 60;

export interface Precise {
  readonly re: string;
  readonly im: string;
  /** Decimal logarithm of the larger part; minus infinity for zero. It may be beyond what a double holds. */
  readonly log10: number;
}

export function setPrecision(ce: ComputeEngine): void {
  ce.precision = digits;
  ce.tolerance = 0;
}

/** Undefined where there is no finite value. */
export function preciseValue(ce: ComputeEngine, node: Node): Precise | undefined {
  const result = ce.expr(node as never).N();
  if (!isNumber(result)) return undefined;
  const value = result.numericValue;
  const re = typeof value === 'number' ? String(value) : (value.bignumRe ?? value.re).toString();
  const im = typeof value === 'number' ? '0' : (value.bignumIm ?? value.im).toString();
  const log10 = Math.max(logarithm(re), logarithm(im));
  return Number.isNaN(log10) ? undefined : { re, im, log10 };
}

function logarithm(text: string): number {
  const [, whole, places = '', exponent = '0'] = /^-?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return NaN;
  const significant = `${whole}${places}`.replace(/^0+/, '');
  if (significant === '') return -Infinity;
  return (
    Math.log10(Number(`0.${significant.slice(0, 17)}`)) +
    significant.length -
    places.length +
    Number(exponent)
  );
}

/** Real, and of a size at which digits decide. */
export const isComparable = (value: Precise | undefined): boolean =>
  value !== undefined && value.im === '0' && (Math.abs(value.log10) <= trusted || value.log10 === -Infinity);

/** Whether two formulas have one value; `a` and `b` are their values. */
export function sameValue(
  ce: ComputeEngine,
  [nodeA, a]: readonly [Node, Precise],
  [nodeB, b]: readonly [Node, Precise],
): boolean {
  // Most unequal pairs end here, for a third of the work.
  if (Math.min(a.log10, b.log10) > -agreeing / 2 && Math.abs(a.log10 - b.log10) > 1e-9) return false;
  const gap = preciseValue(ce, ['Subtract', nodeA, nodeB]);
  if (gap === undefined) return false;
  const size = Math.max(a.log10, b.log10);
  if (gap.log10 === -Infinity || gap.log10 < size - agreeing)
    return Math.abs(size) <= trusted || size === -Infinity || isExactZero(ce, ['Subtract', nodeA, nodeB]);
  return gap.log10 < -agreeing && vanishes(ce, ['Subtract', nodeA, nodeB], gap);
}

const isExactZero = (ce: ComputeEngine, node: Node): boolean =>
  ce
    .expr(node as never)
    .evaluate()
    .isSame(0);

/** A zero that was computed shrinks with the precision; a small number does not. */
function vanishes(ce: ComputeEngine, node: Node, gap: Precise): boolean {
  ce.precision = 2 * digits;
  try {
    const finer = preciseValue(ce, node);
    return finer !== undefined && finer.log10 < gap.log10 - digits / 2;
  } finally {
    setPrecision(ce);
  }
}
