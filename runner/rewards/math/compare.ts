// Whether one answer says what another says. Exact where numbers are; formulas are left to the algebra that is given.
// Unsure is no.
import type { Algebra } from './algebra.ts';
import { roundsTo } from './decimal-places.ts';
import { multiply, rational, sameRational } from './rational.ts';
import type { CollectionValue, ExpressionValue, NumberValue, RelationValue, Value } from './value.ts';

/** Whether `given` says what `gold` says. */
export function sameAnswer(gold: Value, given: Value, algebra: Algebra): boolean {
  const bothNamed = gold.symbol !== undefined && given.symbol !== undefined;
  if (bothNamed && gold.symbol !== given.symbol) return sameAsEquations(gold, given, algebra);
  if (isMeasure(gold) && isMeasure(given)) return sameMeasure(gold, given, algebra);
  if (gold.kind === 'text' && given.kind === 'text') return gold.text === given.text;
  if (gold.kind === 'relation' || given.kind === 'relation') return sameAsEquations(gold, given, algebra);
  if (gold.kind !== 'collection' || given.kind !== 'collection') return false;
  return sameCollection(gold, given, algebra);
}

type Measure = NumberValue | ExpressionValue;

const isMeasure = (value: Value): value is Value & Measure =>
  value.kind === 'number' || value.kind === 'expression';

/** Between -1 and 1: 0.5 may be meant as 50 %. */
const isFraction = ({ value: { over, under } }: NumberValue): boolean => over < under && -over < under;

const hundredth = rational(1n, 100n)!;

/**
 * A missing unit is taken on trust. A percent sign against none must fit as a fraction; or as the number of percent,
 * where that cannot be meant as a fraction (a gold of 12.5 % takes 12.5), and strictly where the gold has no sign.
 */
function sameMeasure(gold: Measure, given: Measure, algebra: Algebra): boolean {
  if (gold.unit !== given.unit && gold.unit !== '' && given.unit !== '') return false;
  if (gold.kind !== 'number' || given.kind !== 'number')
    return gold.unit !== '%' && given.unit !== '%' && algebra.sameExpression(gold.text, given.text);
  const same = sameNumber(gold, given);
  if (gold.unit === given.unit) return same;
  if (gold.unit === '%')
    return (
      (same && !isFraction(gold)) || sameRational(multiply(gold.value, hundredth) ?? gold.value, given.value)
    );
  if (given.unit !== '%') return same;
  const fraction = multiply(given.value, hundredth);
  return (fraction !== undefined && sameRational(gold.value, fraction)) || (same && gold.value.under === 1n);
}

const sameNumber = (gold: NumberValue, given: NumberValue): boolean =>
  sameRational(gold.value, given.value) ||
  roundsTo(gold.text, given.value) ||
  roundsTo(given.text, gold.value);

function asEquation(value: Value): RelationValue | undefined {
  if (value.kind === 'relation') return value;
  if (value.symbol === undefined || !isMeasure(value)) return undefined;
  return { kind: 'relation', operator: '=', left: value.symbol, right: value.text };
}

function sameAsEquations(gold: Value, given: Value, algebra: Algebra): boolean {
  const [wanted, found] = [asEquation(gold), asEquation(given)];
  return wanted !== undefined && found !== undefined && algebra.sameRelation(wanted, found);
}

const isOpen = ({ brackets }: CollectionValue): boolean => brackets === 'set' || brackets === 'list';
const hasNames = ({ items }: CollectionValue): boolean => items.some(({ symbol }) => symbol !== undefined);

function sameCollection(gold: CollectionValue, given: CollectionValue, algebra: Algebra): boolean {
  if (gold.brackets === given.brackets || (isOpen(gold) && isOpen(given)))
    return isOrdered(gold, given)
      ? sameInOrder(gold.items, given.items, algebra)
      : sameInAnyOrder(gold, given, algebra);
  // "p = 5, q = 2" is the pair (5, 2).
  const pair = (list: CollectionValue, tuple: CollectionValue): boolean =>
    list.brackets === 'list' && hasNames(list) && tuple.brackets === '()';
  return (pair(gold, given) || pair(given, gold)) && sameInOrder(gold.items, given.items, algebra);
}

/** Where one side names its items and the other does not, only the order tells which is which. */
function isOrdered(gold: CollectionValue, given: CollectionValue): boolean {
  if (gold.brackets === 'union') return false;
  if (!isOpen(gold)) return true;
  const names = ({ items }: CollectionValue) => new Set(items.map(({ symbol }) => symbol));
  const [wanted, found] = [names(gold), names(given)];
  return (wanted.size > 1 || found.size > 1) && !(hasNames(gold) && hasNames(given));
}

const sameInOrder = (gold: readonly Value[], given: readonly Value[], algebra: Algebra): boolean =>
  gold.length === given.length && gold.every((item, at) => sameAnswer(item, given[at]!, algebra));

function sameInAnyOrder(gold: CollectionValue, given: CollectionValue, algebra: Algebra): boolean {
  const equal = (a: Value, b: Value): boolean => sameAnswer(a, b, algebra);
  if (repetitionSaysNothing(gold) && repetitionSaysNothing(given))
    return (
      gold.items.every((item) => given.items.some((other) => equal(item, other))) &&
      given.items.every((item) => gold.items.some((other) => equal(other, item)))
    );
  if (gold.items.length !== given.items.length) return false;
  const left = [...given.items];
  return gold.items.every((item) => {
    const at = left.findIndex((candidate) => equal(item, candidate));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** A set, and a list of points or of intervals; of bare numbers "2, 2" is not "2". */
const repetitionSaysNothing = ({ brackets, items }: CollectionValue): boolean =>
  brackets === 'set' || brackets === 'union' || items.every(({ kind }) => kind === 'collection');
