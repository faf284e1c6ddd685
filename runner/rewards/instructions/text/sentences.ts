// Sentences of a text as the benchmarks count them: nltk's Punkt for English (Kiss and Strunk 2006, "Unsupervised Multilingual
// Sentence Boundary Detection"), its rules without its trained tables of 20,000 words, for which the short lists below and the
// case of letters stand. Not Intl.Segmenter, which knows neither abbreviations nor numbered lists as Punkt does. Known
// differences are in docs/graders/instructions.md. Linear in the text.
import { abbreviations, neverFinalInitials, starters, titleWords } from './punkt-words.ts';

/** Text without any end of a sentence is one sentence; blank text is none. Line ends alone part nothing. */
export function sentences(text: string): string[] {
  const found: Span[] = [];
  let start = 0;
  for (const candidate of candidates(text)) {
    if (!hasBreak(text, candidate)) continue;
    found.push({ start, end: candidate.end });
    start = candidate.next;
  }
  found.push({ start, end: Math.max(start, text.trimEnd().length) });
  return withClosersMoved(text, found)
    .map(({ start, end }) => text.slice(start, end).trim())
    .filter((sentence) => sentence !== '');
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Candidate {
  /** Of the word that ends here. */
  readonly start: number;
  /** After its `.`, `?` or `!`. */
  readonly end: number;
  /** Where the next sentence would begin. */
  readonly next: number;
  /** The mark that follows at once, or white space and the next word. */
  readonly after: string;
}

const mark = String.raw`[)";}\]*:@'({\[‘’“”«»?!]`;
/** Longer words decide nothing. */
const longestNext = 100;
const ending = new RegExp(String.raw`[.?!](?=${mark}|\s+\S)`, 'g');

/** Ends that white space or a mark follows; of one word the last alone, except that a mark which begins it is its own. */
function* candidates(text: string): Generator<Candidate> {
  let word: Span = { start: 0, end: 0 };
  let pending: Candidate | undefined;
  for (const { index } of text.matchAll(ending)) {
    const space = lastSpace(text, word.end, index);
    const current = { start: space === undefined ? word.start : space + 1, end: index };
    if (pending !== undefined && word.end <= current.start) yield pending;
    pending = candidateAt(text, current);
    word = current;
  }
  if (pending !== undefined) yield pending;
}

function lastSpace(text: string, from: number, to: number): number | undefined {
  for (let at = to - 1; at > from; at--) if (/\s/.test(text.charAt(at))) return at;
  return undefined;
}

function candidateAt(text: string, word: Span): Candidate {
  const end = word.end + 1;
  const space = /^\s*/.exec(text.slice(end))?.[0].length ?? 0;
  if (space === 0) return { start: word.start, end, next: end, after: text.charAt(end) };
  const next = end + space;
  return {
    start: word.start,
    end,
    next,
    after: ` ${/^\S+/.exec(text.slice(next, next + longestNext))?.[0] ?? ''}`,
  };
}

const longMark = String.raw`(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)`;
const wordEnd = String.raw`(?:\s|$|${mark}|${longMark})`;
const token = new RegExp(
  String.raw`${longMark}|(?=[^("\`{\[:;&#*@)}\]\-,])\S+?(?=${wordEnd}|,${wordEnd})|\S`,
  'g',
);

/** Does some token of the word, seen with what follows it, end a sentence? */
function hasBreak(text: string, { start, end, after }: Candidate): boolean {
  const tokens = (text.slice(start, end) + after).match(token) ?? [];
  return tokens.some((one, at) => {
    const next = tokens[at + 1];
    return next !== undefined && ends(one, next, () => at === 0 && beginsLine(text, start));
  });
}

/** Does a sentence end with `word`, where `next` follows? Abbreviations end one only before a word that must begin one. */
function ends(word: string, next: string, isListMark: () => boolean): boolean {
  if (word === '.' || word === '?' || word === '!') return true;
  const upper = /^\p{Uppercase}/u.test(next);
  const notFirst = /^[\p{Lowercase};:,.!?]/u.test(next);
  const nextType = next.toLowerCase();
  if (/^\.{2,}$/.test(word)) return upper && !titleWords.has(nextType);
  if (!word.endsWith('.') || word.endsWith('..')) return false;
  const type = word.slice(0, -1).toLowerCase();
  if (/^-?[.,]?\p{Nd}[\p{Nd},.-]*$/u.test(type)) return !notFirst;
  const begins = upper && starters.has(nextType);
  if (!/^\p{L}$/u.test(type)) return !isAbbreviation(type) || begins;
  if (neverFinalInitials.has(type)) return false;
  return upper ? begins || titleWords.has(nextType) || isListMark() : !notFirst;
}

const isAbbreviation = (type: string): boolean =>
  abbreviations.has(type) || abbreviations.has(type.slice(type.lastIndexOf('-') + 1));

/** A letter with a period at the start of a line numbers an item of a list. */
const beginsLine = (text: string, at: number): boolean =>
  /(?:^|\n)[\s*#>-]*$/.test(text.slice(Math.max(0, at - 16), at));

/** Quotes and brackets that close a sentence belong to it, though they stand after its end. */
function withClosersMoved(text: string, spans: readonly Span[]): Span[] {
  const moved: Span[] = [];
  let skipped = 0;
  spans.forEach(({ start, end }, at) => {
    const following = spans[at + 1];
    const closers = following === undefined ? undefined : closersAt(text, following);
    const own = start + skipped;
    moved.push({ start: own, end: closers === undefined ? end : (following?.start ?? end) + closers.length });
    skipped = closers === undefined ? 0 : closers.length;
  });
  return moved;
}

function closersAt(text: string, { start, end }: Span): string | undefined {
  if (!/["')\]}‘’“”«»]/.test(text.charAt(start))) return undefined;
  const closers = /^["')\]}‘’“”«»]+/.exec(text.slice(start, Math.min(end, start + longestNext)))?.[0];
  if (closers === undefined) return undefined;
  const after = start + closers.length;
  return after >= end || /^(?:\s|--)/.test(text.slice(after, after + 2)) ? closers : undefined;
}
