// What an answer says, as a value: a number with its unit, a collection of answers, or text. Strict: what is not
// understood stays text and equals only the same text.
import { normaliseLatex } from './latex.ts';
import { numericValue } from './numeric.ts';
import type { Rational } from './rational.ts';
import { multiply, rational, sameRational } from './rational.ts';

type Brackets = '()' | '[]' | '(]' | '[)' | 'set';

type Value =
  | { readonly kind: 'number'; readonly value: Rational; readonly unit: string }
  | { readonly kind: 'collection'; readonly brackets: Brackets; readonly items: readonly Value[] }
  | { readonly kind: 'text'; readonly text: string };

/** `symbol` is x in "x = 5" and in "x \in [0, 1]"; empty where nothing is named. */
export interface Answer {
  readonly symbol: string;
  readonly value: Value;
}

const shortUnits =
  'mm|cm|km|kg|mg|ml|mL|ft|yd|mi|lb|lbs|oz|hr|hrs|min|mins|sec|secs|mph|kph|feet|foot|inch|unit|cent|cup|day|days|hour|week|year|mile|yard|gram|liter|litre|meter|metre|pound|men|women|ways';
/** Long words are units of counting ("apples"), unless they name a function, a letter or an operation. */
const notUnits =
  /^(?:alpha|beta|gamma|delta|theta|lambda|sigma|omega|times|minus|equals?|squared|cubed|fewer|other|where|infinity|thousand|million|billion|hundred|dozen|pairs?|halves|thirds?|quarters?)$/;
const measured = new RegExp(`^(.*?[0-9)}])(%|°|(?:${shortUnits}|[a-z]{5,20})(?:\\^\\{?[23]\\}?)?)$`);

function unitName(unit: string): string {
  if (/^degrees?$/.test(unit)) return '°';
  return unit.replace(/[{}]/g, '').replace(/(?<=[a-z]{3})s(?=$|\^)/, '');
}

function measuredNumber(text: string): Value | undefined {
  const [, number, unit] = measured.exec(text) ?? [];
  const bare = unit === undefined || notUnits.test(unit) ? text : number!;
  const value = numericValue(bare);
  return value && { kind: 'number', value, unit: bare === text ? '' : unitName(unit!) };
}

/** Parts between commas that stand outside all brackets; undefined where brackets do not match. */
function topLevelParts(text: string): string[] | undefined {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if ('([{⦃'.includes(character)) depth++;
    if (')]}⦄'.includes(character)) depth--;
    if (depth < 0) return undefined;
    if (depth === 0 && (character === ',' || character === ';')) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return depth === 0 ? parts : undefined;
}

function collection(brackets: Brackets, inner: string): Value | undefined {
  const parts = topLevelParts(inner);
  if (parts === undefined || parts.length < 2 || parts.length > 100 || parts.includes('')) return undefined;
  return { kind: 'collection', brackets, items: parts.map(parseValue) };
}

function bracketedCollection(text: string): Value | undefined {
  const outer = text[0]! + text.at(-1)!;
  const inner = text.slice(1, -1);
  if (outer === '⦃⦄' || outer === '{}') return collection('set', inner);
  if (outer === '()' || outer === '[]' || outer === '(]' || outer === '[)') return collection(outer, inner);
  return undefined;
}

const bareList = (text: string): Value | undefined =>
  collection('set', text.replace(/,?(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])/g, ','));

function parseValue(text: string): Value {
  const choice = /^\(?([A-J])\)$/.exec(text)?.[1];
  if (choice !== undefined) return { kind: 'text', text: choice };
  return (
    (text.length < 2 ? undefined : bracketedCollection(text)) ??
    measuredNumber(text) ??
    bareList(text) ?? { kind: 'text', text: /^[A-Za-z]{2,}$/.test(text) ? text.toLowerCase() : text }
  );
}

/** "x =", "x_1 =", "(p,q) =" and "x \in" in front of a value. */
const named =
  /^([A-Za-z](?:_\{?[A-Za-z0-9]+\}?)?|\([A-Za-z](?:,[A-Za-z])+\))(?:=|\\in(?![A-Za-z]))([^=<>≤≥≠]+)$/;

/** Undefined for an empty or overlong answer. */
export function parseAnswer(source: string): Answer | undefined {
  const text = normaliseLatex(source);
  if (text === undefined || text === '') return undefined;
  const [, symbol, rest] = named.exec(text) ?? [];
  return symbol === undefined
    ? { symbol: '', value: parseValue(text) }
    : { symbol, value: parseValue(rest!) };
}

const hundredth = rational(1n, 100n)!;

/** A missing unit is taken on trust; a percent sign against none must fit as a fraction or as a whole number of percent. */
function sameMeasure(
  gold: Extract<Value, { kind: 'number' }>,
  given: Extract<Value, { kind: 'number' }>,
): boolean {
  const same = sameRational(gold.value, given.value);
  if (gold.unit === given.unit) return same;
  if (gold.unit !== '' && given.unit !== '') return false;
  if (gold.unit === '%')
    return same || sameRational(multiply(gold.value, hundredth) ?? gold.value, given.value);
  if (given.unit !== '%') return same;
  const fraction = multiply(given.value, hundredth);
  return (fraction !== undefined && sameRational(gold.value, fraction)) || (same && gold.value.under === 1n);
}

function sameItems(gold: readonly Value[], given: readonly Value[], ordered: boolean): boolean {
  if (gold.length !== given.length) return false;
  if (ordered) return gold.every((item, at) => sameValue(item, given[at]!));
  const left = [...given];
  return gold.every((item) => {
    const at = left.findIndex((candidate) => sameValue(item, candidate));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function sameValue(gold: Value, given: Value): boolean {
  if (gold.kind === 'number' && given.kind === 'number') return sameMeasure(gold, given);
  if (gold.kind === 'text' && given.kind === 'text') return gold.text === given.text;
  if (gold.kind !== 'collection' || given.kind !== 'collection') return false;
  return gold.brackets === given.brackets && sameItems(gold.items, given.items, gold.brackets !== 'set');
}

/** Whether `given` says what `gold` says. Unsure is no. */
export function sameAnswer(gold: Answer, given: Answer): boolean {
  if (gold.symbol !== '' && given.symbol !== '' && gold.symbol !== given.symbol) return false;
  return sameValue(gold.value, given.value);
}
