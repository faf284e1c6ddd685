// The answer at the end of plain text without statement or formula signs: "…, so \dfrac{9}{7}.", "x = 5", "… 18 dollars."
import type { Found } from './formulas.ts';
import { formulas, withAlternatives } from './formulas.ts';
import { trimEnd } from '../trim-end.ts';

const attachedUnit = '(?:mm|cm|km|m|kg|g)[²³]?';
const plainNumber = new RegExp(
  String.raw`(?<=^|[\s:*"=])(?:-?(?:\d+ )?\d+/\d+(?!/)|[$€£]?-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?[%°]?(?:${attachedUnit})?)(?=$|,\s|,$|[.;:!?](?!\d)|[\s*"€$])`,
  'g',
);
/** An operator, or the comma of a list of numbers. */
const operatorBefore = /[+\-*/^<>≤≥≠±]\s*$|\d[,\s]\s*$/;
/** "not 5", "more than 5", "6 or 5" do not say 5. */
const otherBefore =
  /(?:\b(?:not|cannot|never|than|not be|cannot be|at least|at most)|n't(?: be)?|\d\s+or)\s*$/i;
const operatorAfter = /^\s*[+*/^=<>≤≥±]|^\s-\s/;
/** Arithmetic on numbers alone, from a word, a colon or the line's start up to the "=". */
const arithmeticBefore = /(?:^|[:;.,]|[A-Za-z]{2,})\s*[\d(][\d\s.,+\-*/×÷()$€£%=]*=\s*$/;

function standsAlone(line: string, start: number, end: number): boolean {
  const before = line.slice(0, start);
  if (operatorBefore.test(before) || otherBefore.test(before) || operatorAfter.test(line.slice(end)))
    return false;
  return !/=\s*$/.test(before) || arithmeticBefore.test(before);
}

/** The last number of a line, if it stands alone or is the right-hand side of arithmetic. */
function lastNumber(line: string): string | undefined {
  if (/[\\{}[\]^_]/.test(line)) return undefined;
  const last = [...line.matchAll(plainNumber)].at(-1);
  if (last === undefined || !standsAlone(line, last.index, last.index + last[0].length)) return undefined;
  return last[0].replace(new RegExp(`${attachedUnit}$`), '');
}

const functionName = '(?:sqrt|sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|ln|log|exp|pi|frac|and|or)';
/** A word: letters that are neither one letter, nor a command, nor the name of a function. */
const word = new RegExp(
  String.raw`(?<![\\A-Za-z{_])(?!${functionName}(?![A-Za-z]))[A-Za-z]{2,}(?:['’-][A-Za-z]+)*`,
  'g',
);

/** What stands behind the last word of a line, where it is more than a number: a formula without formula signs. */
function trailingFormula(line: string): string | undefined {
  const lastWord = [...line.matchAll(word)].at(-1);
  const rest = line.slice(lastWord === undefined ? 0 : lastWord.index + lastWord[0].length);
  const formula = trimEnd(rest.replace(/^[\s:*"`]+/, ''), /[\s*"`.;,!]/);
  if (!/^[^=:*/^,]/.test(formula) || !/[0-9A-Za-z]/.test(formula)) return undefined;
  return /\\[A-Za-z]|[=<>≤≥^/]|\d\s*[-+*]\s*\d|[a-z]\s*[-+*]|[-+*]\s*[a-z]|[([√π²³°±]/.test(formula)
    ? formula
    : undefined;
}

/** Stars around words and numbers, not between them. */
const emphasis = /(?<=^|[\s(])\*{1,2}(?=\S)|(?<=\S)\*{1,2}(?=$|[\s.,;:!?)])/g;

/** What stands behind the last formula on the last line; formulas are not searched for numbers. */
function lastPlainText(text: string, formula: Found | undefined): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(Math.max(trimmed.lastIndexOf('\n') + 1, formula?.end ?? 0)).replace(emphasis, '');
}

/** The last formula or the last plain expression, whichever stands later. */
export function lastExpression(text: string): string | undefined {
  const found = formulas(text);
  const line = lastPlainText(text, found.at(-1));
  return lastNumber(line) ?? trailingFormula(line) ?? withAlternatives(text, found, found.length - 1);
}

const countedThing = /^([$€£]?-?\d[\d,]*(?:\.\d+)?)\s+([a-z]+)((?:\s+[a-z]+)*)$/;
const comparing =
  /\b(?:more|less|times|plus|minus|and|or|to|over|fewer|squared|cubed|than|not|between|about)\b/;

/** Of a stated answer in words: "18 apples a day" says 18 apples, "Jane began 3 hours ago" says 3. */
export function ofSentence(sentence: string): string {
  const [, number, thing, more = ''] = countedThing.exec(sentence) ?? [];
  if (number !== undefined && !comparing.test(`${thing} ${more}`)) return `${number} ${thing}`;
  const words = sentence.match(/[A-Za-z]{2,}/g) ?? [];
  const numbers = sentence.match(/\d[\d,.]*\d|\d/g) ?? [];
  if (words.length < 4 || numbers.length !== 1 || comparing.test(sentence)) return sentence;
  return lastNumber(sentence) ?? sentence;
}
