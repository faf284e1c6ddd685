// The value of an expression of numbers alone, exactly: decimals, fractions, mixed numbers, + - * / ^ and brackets.
// A recursive descent over normalised text; whatever it does not know makes the whole undefined.
import type { Rational } from './rational.ts';
import { add, decimal, divide, multiply, negate, power, rational } from './rational.ts';

const maxDepth = 40;

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
}

type Parsed = Rational | undefined;

function take(cursor: Cursor, pattern: RegExp): string | undefined {
  const sticky = new RegExp(pattern, 'y');
  sticky.lastIndex = cursor.at;
  const match = sticky.exec(cursor.text);
  if (match === null) return undefined;
  cursor.at += match[0].length;
  return match[0];
}

const grouped = /[1-9]\d{0,2}(?:[, ]\d{3})+(?![\d])(?:\.\d+)?/;
const repeating = /\d*\.(\d*)\\overline\{(\d+)\}/;

function repeatingDecimal(text: string): Parsed {
  const match = /^(\d*)\.(\d*)\\overline\{(\d+)\}$/.exec(text);
  if (match === null || text.length > 200) return undefined;
  const [, whole = '', fixed = '', cycle = ''] = match;
  const head = rational(BigInt(`0${whole}${fixed}`), 10n ** BigInt(fixed.length));
  const tail = rational(BigInt(cycle), 10n ** BigInt(fixed.length) * (10n ** BigInt(cycle.length) - 1n));
  return head && tail && add(head, tail);
}

function number(cursor: Cursor): Parsed {
  const cyclic = take(cursor, repeating);
  if (cyclic !== undefined) return repeatingDecimal(cyclic);
  const text = take(cursor, grouped)?.replace(/[, ]/g, '') ?? take(cursor, /\d+\.?\d*|\.\d+/);
  return text === undefined ? undefined : decimal(text);
}

function bracketed(cursor: Cursor, open: RegExp, close: RegExp): Parsed {
  if (take(cursor, open) === undefined) return undefined;
  if (++cursor.depth > maxDepth) return undefined;
  const value = sum(cursor);
  cursor.depth--;
  return take(cursor, close) === undefined ? undefined : value;
}

const braces = (cursor: Cursor): Parsed => bracketed(cursor, /\{/, /\}/);

function fraction(cursor: Cursor): Parsed {
  const over = braces(cursor);
  const under = over && braces(cursor);
  return under && divide(over, under);
}

function atom(cursor: Cursor): Parsed {
  if (take(cursor, /\\frac(?=\{)/) !== undefined) return fraction(cursor);
  if (cursor.text[cursor.at] === '(') return bracketed(cursor, /\(/, /\)/);
  if (cursor.text[cursor.at] === '{') return braces(cursor);
  const whole = number(cursor);
  // 1\frac{2}{3} and 1 2/3 are mixed numbers, where the part after the integer is a proper fraction.
  if (whole === undefined || whole.under !== 1n) return whole;
  const part = mixedPart(cursor);
  return part === undefined ? whole : add(whole, part);
}

function mixedPart(cursor: Cursor): Parsed {
  const match = /^(?:\\frac\{(\d{1,9})\}\{(\d{1,9})\}| (\d{1,9})\/(\d{1,9}))/.exec(
    cursor.text.slice(cursor.at, cursor.at + 40),
  );
  if (match === null) return undefined;
  const [over, under] = [BigInt(match[1] ?? match[3]!), BigInt(match[2] ?? match[4]!)];
  if (over >= under) return undefined;
  cursor.at += match[0].length;
  return rational(over, under);
}

function signed(cursor: Cursor): Parsed {
  if (++cursor.depth > maxDepth) return undefined;
  const sign = take(cursor, /[+-]/);
  const value = sign === undefined ? raised(cursor) : signed(cursor);
  cursor.depth--;
  return value && (sign === '-' ? negate(value) : value);
}

function raised(cursor: Cursor): Parsed {
  const base = atom(cursor);
  if (base === undefined || take(cursor, /\^/) === undefined) return base;
  const exponent = cursor.text[cursor.at] === '{' ? braces(cursor) : signedDigit(cursor);
  return exponent && power(base, exponent);
}

/** LaTeX raises to one token only: 2^10 is 2^1 followed by 0, so several digits without braces are refused. */
function signedDigit(cursor: Cursor): Parsed {
  const digits = take(cursor, /\d+/);
  return digits === undefined || digits.length > 1 ? undefined : decimal(digits);
}

function product(cursor: Cursor): Parsed {
  let value = signed(cursor);
  for (;;) {
    const operator = value && take(cursor, /[*/]/);
    if (operator === undefined || value === undefined) return value;
    const factor = signed(cursor);
    value = factor && (operator === '*' ? multiply(value, factor) : divide(value, factor));
  }
}

function sum(cursor: Cursor): Parsed {
  let value = product(cursor);
  for (;;) {
    const operator = value && take(cursor, /[+-]/);
    if (operator === undefined || value === undefined) return value;
    const term = product(cursor);
    value = term && add(value, operator === '-' ? negate(term) : term);
  }
}

/** The exact value of a normalised expression, or undefined where it is anything but numbers. */
export function numericValue(text: string): Rational | undefined {
  const cursor: Cursor = { text, at: 0, depth: 0 };
  const value = sum(cursor);
  return cursor.at === text.length ? value : undefined;
}
