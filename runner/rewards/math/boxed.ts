// \boxed{…}: where the boxes of a text stand and what the last of them say.
import { noAlgebra } from './algebra.ts';
import { sameAnswer } from './compare.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Value } from './value.ts';

interface Box {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

/** The last box that closes at or before `from`. */
function boxBefore(text: string, from: number): Box | undefined {
  for (
    let at = text.lastIndexOf('\\boxed', from);
    at >= 0;
    at = at === 0 ? -1 : text.lastIndexOf('\\boxed', at - 1)
  ) {
    const open = /^\\boxed\s*\{/.exec(text.slice(at, at + 20))?.[0].length;
    const end = open === undefined ? undefined : closingBrace(text, at + open);
    if (open !== undefined && end !== undefined)
      return { content: text.slice(at + open, end), start: at, end };
  }
  return undefined;
}

/** No answer is longer; so that a text of nothing but boxes does not cost the square of its length. */
const longest = 2000;

function closingBrace(text: string, start: number): number | undefined {
  const stop = Math.min(text.length, start + longest);
  let depth = 1;
  for (let at = start; at < stop; at++) {
    if (text[at] === '\\' && '{}'.includes(text[at + 1] ?? '-')) at++;
    else if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  return undefined;
}

/** "\boxed{1} and \boxed{2}", "\boxed{1}, \boxed{2}", "\boxed{1} papers and \boxed{2} bins": boxes of one answer. */
const joining =
  /^(?:[\s$.;,]|\\[()[\]]|\\q?quad(?![A-Za-z])|\\text\s*\{\s*(?:and|or)?\s*\})*(?:(?:[a-z]+\s+)?(?:and|or)(?:[\s$]|\\[([]|\\q?quad(?![A-Za-z]))*)?$/;
const maxJoined = 20;

/** What the last box says; where boxes follow each other with nothing but "," or "and" between, all of them. */
export function boxedAnswer(text: string): string | undefined {
  let box = boxBefore(text, text.length);
  if (box === undefined) return undefined;
  const contents = [withUnitBehind(text, box)];
  while (contents.length < maxJoined && box.start > 0) {
    const before = boxBefore(text, box.start - 1);
    if (before === undefined || before.end > box.start) break;
    const between = text.slice(before.end + 1, box.start);
    if (between.length > 60 || between.includes('\n\n') || !joining.test(between)) break;
    contents.unshift(before.content);
    box = before;
  }
  return distinct(contents).join(', ');
}

/** "\boxed{1.5}, or \boxed{\frac{3}{2}}" is one answer in two spellings. */
function distinct(contents: readonly string[]): readonly string[] {
  const values = contents.map(parseAnswer);
  const repeats = (value: Value | undefined, at: number): boolean =>
    values.slice(0, at).some((other) => value && other && sameAnswer(other, value, noAlgebra));
  return values.every((value, at) => at === 0 || repeats(value, at)) ? contents.slice(0, 1) : contents;
}

const percentBehind = /^[\s$]*(?:\\?%|pct\b|per\s?cent\b)/;

const withUnitBehind = (text: string, { content, end }: Box): string =>
  percentBehind.test(text.slice(end + 1, end + 20)) && !content.includes('%') ? `${content}%` : content;
