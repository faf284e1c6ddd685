// From the text of an answer to its value. Strict: what is not understood stays text and equals only the same text.
import { isFormula } from './algebra.ts';
import { normaliseLatex, rowBreak } from './latex.ts';
import { numericValue } from './numeric.ts';
import { namedValue, relation } from './relation.ts';
import { conjunctionsAsCommas, cutAt, listParts } from './split.ts';
import { splitUnit } from './unit.ts';
import type { Brackets, Value } from './value.ts';

const maxDepth = 8;

/** Undefined for an empty or overlong answer. */
export function parseAnswer(source: string): Value | undefined {
  const text = normaliseLatex(source);
  return text === undefined || text === '' ? undefined : parseValue(text, 0);
}

function parseValue(text: string, depth: number): Value {
  const choice = /^\(?([A-J])\)$/.exec(text)?.[1];
  if (choice !== undefined) return { kind: 'expression', text: choice, unit: '' };
  if (depth > maxDepth) return { kind: 'text', text };
  const inner = (part: string): Value => parseValue(part, depth + 1);
  return (
    bracketed(text, inner) ??
    matrix(text, inner) ??
    number(text) ??
    namedValue(text, inner) ??
    bareList(text, inner) ??
    relation(text, inner) ??
    union(text, inner) ??
    plusMinus(text, inner) ??
    ratio(text, inner) ??
    expression(text) ?? { kind: 'text', text: /^[A-Za-z ]{2,}$/.test(text) ? text.toLowerCase() : text }
  );
}

type Parse = (text: string) => Value;

/** Items of a bare list and of a set that are lists themselves (1 ± √5) are items of the whole. */
function collection(brackets: Brackets, items: readonly Value[]): Value {
  const open = brackets === 'set' || brackets === 'list';
  const flat = open
    ? items.flatMap((item) =>
        item.kind === 'collection' && item.brackets === 'list' && !named(item) ? item.items : [item],
      )
    : items;
  return { kind: 'collection', brackets, items: flat };
}

/** Whether the items carry names of their own: such a list is one solution, (p, q) = (5, 2). */
const named = (value: Value): boolean =>
  value.kind === 'collection' && value.items.some(({ symbol }) => symbol !== undefined);

const fixedBrackets: ReadonlySet<string> = new Set(['()', '[]', '(]', '[)']);

function bracketed(text: string, parse: Parse): Value | undefined {
  if (text.length < 2) return undefined;
  const outer = text[0]! + text.at(-1)!;
  const isSet = outer === '⦃⦄' || outer === '{}';
  if (!isSet && !fixedBrackets.has(outer)) return undefined;
  const parts = listParts(text.slice(1, -1), outer === '⦃⦄' ? 1 : 2);
  return parts && collection(isSet ? 'set' : (outer as Brackets), parts.map(parse));
}

function matrix(text: string, parse: Parse): Value | undefined {
  const [, body] =
    /^\\begin\{[pbB]?(?:matrix|array)\}(?:\{[clr|]+\})?(.*?)\\end\{[pbB]?(?:matrix|array)\}$/.exec(text) ??
    [];
  if (body === undefined || body.includes('\\begin')) return undefined;
  const rows = body.replace(new RegExp(`${rowBreak}$`), '').split(rowBreak);
  const cells = rows.map((row) => row.split('&'));
  if (cells.flat().includes('') || cells.some((row) => row.length !== cells[0]!.length)) return undefined;
  return collection(
    'matrix',
    cells.map((row) => collection('()', row.map(parse))),
  );
}

function number(text: string): Value | undefined {
  const { bare, unit } = splitUnit(text);
  const value = numericValue(bare);
  return value && { kind: 'number', value, unit, text: bare };
}

function bareList(text: string, parse: Parse): Value | undefined {
  const parts = listParts(conjunctionsAsCommas(text), 2);
  if (parts === undefined) return undefined;
  const items = parts.map(parse);
  const symbol = items[0]!.symbol;
  // "a = 4, -8, -10": the name is that of every item.
  const shared = symbol !== undefined && items.slice(1).every((item) => item.symbol === undefined);
  if (!shared) return collection('list', items);
  const { symbol: _, ...first } = items[0]!;
  return { ...collection('list', [first, ...items.slice(1)]), symbol };
}

function union(text: string, parse: Parse): Value | undefined {
  const parts = cutAt(text, '∪')?.parts;
  if (parts === undefined || parts.length < 2 || parts.includes('')) return undefined;
  return collection('union', parts.map(parse));
}

/** One ± stands for two answers; of several it is not said which go together. */
function plusMinus(text: string, parse: Parse): Value | undefined {
  const signs = text.match(/[±∓]/g) ?? [];
  if (signs.length !== 1) return undefined;
  return collection(
    'list',
    ['+', '-'].map((sign) => parse(text.replace(/[±∓]/, sign).replace(/^\+|(?<=[({])\+/, ''))),
  );
}

function ratio(text: string, parse: Parse): Value | undefined {
  const parts = cutAt(text, ':')?.parts;
  if (parts === undefined || parts.length < 2 || parts.includes('')) return undefined;
  return collection('ratio', parts.map(parse));
}

function expression(text: string): Value | undefined {
  // The degrees of an angle inside a function are part of the formula.
  const inFunction = /\\(?:sin|cos|tan|cot|sec|csc)/.test(text);
  const { bare, unit } = inFunction ? { bare: text, unit: '' } : splitUnit(text);
  return isFormula(bare) ? { kind: 'expression', text: bare, unit } : undefined;
}
