// Which part of a response is its answer. Precedence: the last complete \boxed{}, the line after the last "####",
// what follows the last "answer is" or "answer:", then the last formula or the last plain number, whichever stands
// later. A number that is part of an expression in running text is not an answer.

/** Content of the last \boxed{…} whose braces close. */
export function lastBoxed(text: string): string | undefined {
  for (let from = text.length; from >= 0;) {
    const at = text.lastIndexOf('\\boxed', from);
    if (at < 0) return undefined;
    const open = /^\\boxed\s*\{/.exec(text.slice(at, at + 20))?.[0].length;
    const content = open === undefined ? undefined : untilClosed(text, at + open);
    if (content !== undefined) return content;
    from = at - 1;
  }
  return undefined;
}

function untilClosed(text: string, start: number): string | undefined {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return text.slice(start, at);
  }
  return undefined;
}

interface Found {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

/** Inline math with $ opens before no space and closes after none, or has space on both sides; else it is money. */
const formulaPattern =
  /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\\\(([^\n]+?)\\\)|\$(?=\S)([^$\n]*[^$\s])\$(?!\d)|\$ ([^$\n]*) \$/g;
const percentAfter = /^\s*(?:%|\\%|pct\b|per\s?cent\b)/;

function formulas(text: string): Found[] {
  return [...text.matchAll(formulaPattern)].map((match) => {
    const end = match.index + match[0].length;
    const percent = percentAfter.test(text.slice(end, end + 12)) ? '%' : '';
    return { content: match.slice(1).find((part) => part !== undefined)! + percent, start: match.index, end };
  });
}

const plainNumber =
  /(?<=^|[\s:*"=])[$€£]?-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?(?=$|,\s|,$|[.;:!?](?!\d)|[\s*"€$])/g;
/** An operator, or the comma of a list of numbers. */
const operatorBefore = /[+\-*/^<>≤≥±]\s*$|\d[,\s]\s*$/;
const operatorAfter = /^\s*[+*/^=<>≤≥±]|^\s-\s/;
/** Arithmetic on numbers alone, from a word, a colon or the line's start up to the "=". */
const arithmeticBefore = /(?:^|[:;.,]|[A-Za-z]{2,})\s*[\d(][\d\s.,+\-*/×÷()$€£%=]*=\s*$/;

function standsAlone(line: string, start: number, end: number): boolean {
  const before = line.slice(0, start);
  if (operatorBefore.test(before) || operatorAfter.test(line.slice(end))) return false;
  return !/=\s*$/.test(before) || arithmeticBefore.test(before);
}

interface Line {
  readonly text: string;
  readonly offset: number;
}

/** The last number of a line of plain text, if it stands alone or is the right-hand side of arithmetic. */
function lastNumber({ text, offset }: Line): Found | undefined {
  if (/[\\{}[\]^_]/.test(text)) return undefined;
  const last = [...text.matchAll(plainNumber)].at(-1);
  if (last === undefined || !standsAlone(text, last.index, last.index + last[0].length)) return undefined;
  return { content: last[0], start: offset + last.index, end: offset + last.index + last[0].length };
}

/** What stands behind the last formula on the last line; formulas are not searched for numbers. */
function lastPlainText(text: string, formula: Found | undefined): Line {
  const trimmed = text.trimEnd();
  const offset = Math.max(trimmed.lastIndexOf('\n') + 1, formula?.end ?? 0);
  return { text: trimmed.slice(offset), offset };
}

function lastFormulaOrNumber(text: string): string | undefined {
  const formula = formulas(text).at(-1);
  return lastNumber(lastPlainText(text, formula))?.content ?? formula?.content;
}

const statement = /\banswer(?:\s+is(?:\s*:)?|\s*:|\*\*\s*:)/gi;
const countedThing = /^([$€£]?-?\d[\d,]*(?:\.\d+)?)\s+([a-z]+)((?:\s+[a-z]+)*)$/;
const comparing = /\b(?:more|less|times|plus|minus|and|or|to|over|fewer|squared|cubed|than)\b/;

/** The statement up to the end of its sentence; of "18 apples a day" the number and its unit. */
function stated(text: string): string | undefined {
  const last = [...text.matchAll(statement)].at(-1);
  if (last === undefined) return undefined;
  const rest = text.slice(last.index + last[0].length).replace(/^[\s*_"]+/, '');
  const formula = formulas(rest)[0];
  if (formula?.start === 0) return formula.content;
  const sentence = rest.split(/\n|\.(?:\s|$)/, 1)[0]!.replace(/[\s*_".]+$/, '');
  const inside = formulas(sentence);
  if (inside.length === 1) return inside[0]!.content;
  const [, number, thing, more = ''] = countedThing.exec(sentence) ?? [];
  if (number === undefined || comparing.test(`${thing} ${more}`))
    return sentence === '' ? undefined : sentence;
  return `${number} ${thing}`;
}

const afterHashes = (text: string): string | undefined =>
  text.includes('####')
    ? text
        .slice(text.lastIndexOf('####') + 4)
        .trimStart()
        .split('\n', 1)[0]
    : undefined;

/** What a response gives as its answer, or undefined where it gives none. */
export function responseAnswer(response: string): string | undefined {
  return lastBoxed(response) ?? afterHashes(response) ?? stated(response) ?? lastFormulaOrNumber(response);
}

/** The gold of a row: boxed, after "####", one formula, or as it stands. A gold is never guessed out of prose. */
export function goldAnswer(gold: string): string {
  const whole = /^\s*(?:\$\$([^$]+)\$\$|\$([^$]+)\$)\s*\.?\s*$/.exec(gold);
  return lastBoxed(gold) ?? afterHashes(gold) ?? whole?.[1] ?? whole?.[2] ?? gold;
}
