// Equality of formulas by value: both are computed with a hundred digits, for formulas with variables at several points.
// Two different formulas of the size of an answer do not agree in eighty digits, so nothing that is unequal passes; the
// compute engine's own comparison has a tolerance and would let it. Runs in a worker only: a formula may take forever.
import { ComputeEngine } from '@cortex-js/compute-engine';
import type { Algebra } from './algebra.ts';
import { isFormula, noAlgebra } from './algebra.ts';
import { longDecimal } from './decimal-places.ts';
import { isComplex, readFormula, substitute } from './formula.ts';
import type { Formula, Node } from './formula.ts';
import { isComparable, preciseValue, sameValue, setPrecision } from './precise.ts';
import type { Precise } from './precise.ts';
import { farPointsFor, pointsFor } from './sample-points.ts';
import type { Point } from './sample-points.ts';
import type { RelationValue } from './value.ts';

/** Points at which both formulas must have a value. */
const leastPoints = 2;

export function symbolicAlgebra(): Algebra {
  const ce = new ComputeEngine();
  setPrecision(ce);
  return {
    sameExpression: (gold, given) => noAlgebra.sameExpression(gold, given) || sameExpression(ce, gold, given),
    sameRelation: (gold, given) => noAlgebra.sameRelation(gold, given) || sameRelation(ce, gold, given),
  };
}

const readBoth = (ce: ComputeEngine, ...texts: readonly string[]): readonly Formula[] | undefined => {
  if (!texts.every(isFormula)) return undefined;
  const formulas = texts.map((text) => readFormula(ce, text));
  return formulas.every((formula) => formula !== undefined) ? formulas : undefined;
};

function sameExpression(ce: ComputeEngine, gold: string, given: string): boolean {
  const read = readBoth(ce, gold, given);
  if (read === undefined) return false;
  const points = pointsFor(read);
  if (points.length === 1) return sameConstant(ce, [gold, read[0]!.node], [given, read[1]!.node]);
  const nodes = [read[0]!.node, read[1]!.node] as const;
  const near = agreements(ce, nodes, points, 'near');
  const far = near === undefined ? undefined : agreements(ce, nodes, farPointsFor(read), 'far');
  return near !== undefined && far !== undefined && near + far >= leastPoints;
}

type Constant = readonly [text: string, node: Node];

function sameConstant(ce: ComputeEngine, gold: Constant, given: Constant): boolean {
  const [a, b] = [preciseValue(ce, gold[1]), preciseValue(ce, given[1])];
  if (a === undefined || b === undefined) return false;
  return (
    sameValue(ce, [gold[1], a], [given[1], b]) ||
    writesOut(ce, gold[0], given[1], b) ||
    writesOut(ce, given[0], gold[1], a)
  );
}

/** Whether a decimal with enough digits is the value of the formula, rounded or cut off. */
function writesOut(ce: ComputeEngine, text: string, node: Node, value: Precise): boolean {
  const decimal = longDecimal(text);
  if (decimal === undefined || value.im !== '0') return false;
  const scaled: Node = ['Multiply', node, { num: `1${'0'.repeat(decimal.places)}` }];
  const gap = preciseValue(ce, ['Subtract', scaled, { num: String(decimal.scaled) }]);
  if (gap === undefined || gap.im !== '0') return false;
  const signed = Number(gap.re) * (value.re.startsWith('-') ? -1 : 1);
  return signed >= -0.5 && signed < 1;
}

/**
 * At how many points both have the same value; undefined where at one they have not. A far point counts only where both
 * are real and of a size at which digits decide.
 */
function agreements(
  ce: ComputeEngine,
  [gold, given]: readonly [Node, Node],
  points: readonly Point[],
  distance: 'near' | 'far',
): number | undefined {
  const complex = isComplex(gold) || isComplex(given);
  let met = 0;
  for (const point of points) {
    const [nodeA, nodeB] = [substitute(gold, point), substitute(given, point)];
    const [a, b] = [preciseValue(ce, nodeA), preciseValue(ce, nodeB)];
    if (a === undefined && b === undefined) continue;
    // \sqrt{1/n} and 1/\sqrt{n} differ in sign where both are imaginary: as functions of real numbers they are one.
    if (!complex && a !== undefined && b !== undefined && a.im !== '0' && b.im !== '0') continue;
    if (distance === 'far' && !(isComparable(a) && isComparable(b))) continue;
    if (a === undefined || b === undefined || !sameValue(ce, [nodeA, a], [nodeB, b])) return undefined;
    met++;
  }
  return met;
}

/**
 * left - right of one is a constant multiple of left - right of the other. For an inequality the constant is positive,
 * for everything it is not zero.
 */
function sameRelation(ce: ComputeEngine, gold: RelationValue, given: RelationValue): boolean {
  if (gold.operator !== given.operator) return false;
  const read = readBoth(ce, gold.left, gold.right, given.left, given.right);
  if (read === undefined) return false;
  const [goldLeft, goldRight, givenLeft, givenRight] = read.map(({ node }) => node) as [
    Node,
    Node,
    Node,
    Node,
  ];
  const points = pointsFor(read);
  if (points.length === 1) return false;
  const gapAt = (point: Point): Gap => ({
    gold: substitute(['Subtract', goldLeft, goldRight], point),
    given: substitute(['Subtract', givenLeft, givenRight], point),
  });
  const gaps = points.map(gapAt);
  const quotient = preciseValue(ce, ['Divide', gaps[0]!.gold, gaps[0]!.given]);
  if (quotient === undefined || quotient.log10 === -Infinity) return false;
  const ordered = gold.operator === '<' || gold.operator === '≤';
  if (ordered && (quotient.im !== '0' || quotient.re.startsWith('-'))) return false;
  return (
    gaps.slice(1).every((gap) => sameProduct(ce, gap, gaps[0]!, 'near')) &&
    farPointsFor(read).every((point) => sameProduct(ce, gapAt(point), gaps[0]!, 'far'))
  );
}

interface Gap {
  readonly gold: Node;
  readonly given: Node;
}

/** Far away, what cannot be compared says nothing. */
function sameProduct(ce: ComputeEngine, one: Gap, other: Gap, distance: 'near' | 'far'): boolean {
  const [nodeA, nodeB]: [Node, Node] = [
    ['Multiply', one.gold, other.given],
    ['Multiply', other.gold, one.given],
  ];
  const [a, b] = [preciseValue(ce, nodeA), preciseValue(ce, nodeB)];
  if (distance === 'far' && !(isComparable(a) && isComparable(b))) return true;
  if (a === undefined || b === undefined || (distance === 'near' && a.log10 === -Infinity)) return false;
  return sameValue(ce, [nodeA, a], [nodeB, b]);
}
