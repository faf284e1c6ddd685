// Equations and inequalities: "x = 5" is the value 5 with a name, "1 < x <= 2" the interval (1, 2] of x, and what is
// neither is a relation between two expressions.
import { numericValue } from './numeric.ts';
import { sameRational } from './rational.ts';
import { cutAt } from './split.ts';
import type { Brackets, Value } from './value.ts';

const greek =
  'alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|varphi|chi|psi|omega';
const subscript = '(?:_(?:[A-Za-z0-9]|\\{[A-Za-z0-9]+\\}))?';
const letter = `(?:[A-Za-z]|\\\\(?:${greek}))${subscript}`;
/** x, x_1, AB, S_{MBCN}, area, f(x), \angle ABC: not a product of letters such as xy. */
const single = `(?:${letter}|(?:[A-Z]{2,6}|[A-Za-z]{4,20})${subscript}|[A-Za-z]\\([A-Za-z0-9]\\)|\\\\angle ?[A-Z]{1,3})`;
const name = new RegExp(`^(?:${single}|${single}:${single}|\\(${letter}(?:,${letter})+\\))$`);
const variable = new RegExp(`^(?:${letter}|[A-Za-z]\\([A-Za-z]\\))$`);

export const isName = (text: string): boolean => name.test(text);

type Parse = (text: string) => Value;

/** "x =" and "x \in" in front of all the rest. */
export function namedValue(text: string, parse: Parse): Value | undefined {
  const [, symbol, rest] = /^([^=<>≤≥≠≈∈]+)[=∈]([^=<>≤≥≠≈∈]+)$/.exec(text) ?? [];
  if (symbol === undefined || rest === undefined || !isName(symbol)) return undefined;
  return { ...parse(rest), symbol };
}

const flipped: Readonly<Record<string, '<' | '≤'>> = { '>': '<', '≥': '≤' };

export function relation(text: string, parse: Parse): Value | undefined {
  const cut = cutAt(text, '=<>≤≥≠≈');
  if (cut === undefined || cut.signs.length === 0 || cut.parts.includes('')) return undefined;
  const exact = withoutApproximation(cut.parts, cut.signs);
  if (exact.signs.length === 0) return parse(exact.parts[0]!);
  if (exact.signs.every((sign) => sign === '=')) return equation(exact.parts, parse);
  return inequality(exact.parts, exact.signs, parse);
}

/** "x = 1/3 ≈ 0.33" says 1/3; "x ≈ 0.33" says 0.33. */
function withoutApproximation(parts: readonly string[], signs: readonly string[]) {
  const at = signs.indexOf('≈');
  if (at < 0) return { parts, signs };
  if (at === 0 && isName(parts[0]!))
    return { parts, signs: signs.map((sign) => (sign === '≈' ? '=' : sign)) };
  return { parts: parts.slice(0, at + 1), signs: signs.slice(0, at) };
}

/** A chain says its last member: of a name, or of arithmetic on numbers. */
function equation(parts: readonly string[], parse: Parse): Value | undefined {
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (isName(first)) return { ...parse(last), symbol: first };
  const start = numericValue(first);
  if (start !== undefined) {
    const end = numericValue(last);
    if (end !== undefined) return sameRational(start, end) ? parse(last) : undefined;
  }
  if (parts.length > 2) return undefined;
  return { kind: 'relation', operator: '=', left: first, right: last };
}

function inequality(parts: readonly string[], signs: readonly string[], parse: Parse): Value | undefined {
  if (signs.some((sign) => !'<>≤≥≠'.includes(sign)) || parts.length > 3) return undefined;
  const down = signs.every((sign) => sign in flipped);
  if (!down && signs.some((sign) => sign in flipped)) return undefined;
  const upParts = down ? [...parts].reverse() : parts;
  const upSigns = (down ? [...signs].reverse() : signs).map((sign) => flipped[sign] ?? sign);
  if (upParts.length === 3) return between(upParts, upSigns, parse);
  const [left, right] = [upParts[0]!, upParts[1]!];
  const operator = upSigns[0] as '<' | '≤' | '≠';
  const ray = operator === '≠' ? undefined : halfLine(left, operator, right, parse);
  return ray ?? { kind: 'relation', operator, left, right };
}

const bracketsOf = (low: string, high: string): Brackets =>
  low === '≤' ? (high === '≤' ? '[]' : '[)') : high === '≤' ? '(]' : '()';

const mentions = (text: string, symbol: string): boolean => text.includes(symbol);

function between(parts: readonly string[], signs: readonly string[], parse: Parse): Value | undefined {
  const [low, symbol, high] = [parts[0]!, parts[1]!, parts[2]!];
  if (!variable.test(symbol) || signs.includes('≠') || mentions(low + high, symbol)) return undefined;
  return {
    kind: 'collection',
    brackets: bracketsOf(signs[0]!, signs[1]!),
    items: [parse(low), parse(high)],
    symbol,
  };
}

function halfLine(left: string, operator: '<' | '≤', right: string, parse: Parse): Value | undefined {
  const closed = operator === '≤';
  if (variable.test(left) && !/[A-Za-z]/.test(right))
    return {
      kind: 'collection',
      brackets: closed ? '(]' : '()',
      items: [parse('-∞'), parse(right)],
      symbol: left,
    };
  if (variable.test(right) && !/[A-Za-z]/.test(left))
    return {
      kind: 'collection',
      brackets: closed ? '[)' : '()',
      items: [parse(left), parse('∞')],
      symbol: right,
    };
  return undefined;
}
