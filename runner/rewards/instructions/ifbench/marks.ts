// IFBench's `format:` constraints on marks within the text: brackets, quotes, emoji, italics, capitals.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { minorWords } from './text/lists.ts';
import { sentences } from '../text/sentences.ts';
import { chunks, trimMarks, withoutPunctuation } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

const closer: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Grows as marks open and close: the innermost still open is last, each with the levels closed within it. */
type Open = { readonly closer: string; within: number }[];

/** Closes the innermost mark; the levels that it now encloses, itself among them. */
function close(open: Open): number {
  const levels = open.pop()!.within + 1;
  const outer = open.at(-1);
  if (outer !== undefined) outer.within = Math.max(outer.within, levels);
  return levels;
}

/** Brackets within brackets, five levels that all close; one that closes wrongly undoes all that are open. */
export const parentheses: Of<'format:parentheses'> = (response) => {
  const open: Open = [];
  for (const character of response.match(/[()[\]{}]/g) ?? []) {
    const closes = closer[character];
    if (closes !== undefined) open.push({ closer: closes, within: 0 });
    else if (open.at(-1)?.closer !== character) open.length = 0;
    else if (close(open) >= 5) return true;
  }
  return false;
};

const straight = (text: string): string => text.replace(/[“”„]/g, '"').replace(/[‘’]/g, "'");

/** Quotation marks only: an apostrophe within a word is none, nor is one that closes nothing. */
const quotationMark = /"|(?<![\p{L}\p{N}])'(?=\S)|'(?![\p{L}\p{N}])/gu;

/** Double within single within double, or the reverse: three levels that all close. */
export const quotes: Of<'format:quotes'> = (response) => {
  const open: Open = [];
  const text = straight(response);
  for (const { 0: mark, index } of text.matchAll(quotationMark)) {
    const opens = mark === '"' || !/[\p{L}\p{N}]/u.test(text[index - 1] ?? '');
    if (open.at(-1)?.closer === mark) {
      if (close(open) >= 3) return true;
    } else if (opens) open.push({ closer: mark, within: 0 });
  }
  return false;
};

/** After each quoted phrase comes a word outside quotes, before the next one begins; without quotes nothing needs one. */
export const quoteUnquote: Of<'format:quote_unquote'> = (response) => {
  const parts = straight(response).split('"');
  const followed = parts.filter((_, index) => index > 0 && index % 2 === 0);
  return followed.every((part) => /\p{L}/u.test(part));
};

const picture = String.raw`(?:\p{RGI_Emoji}|\p{Extended_Pictographic})`;
const beginsWithEmoji = new RegExp(`^${picture}`, 'v');
const endsWithEmoji = new RegExp(`${picture}[\\u{fe0f}\\u{200d}\\p{Emoji_Modifier}]*$`, 'v');
/** The longest emoji, a family with its joiners, is shorter. */
const longestEmoji = 40;

/** "Done 🎉." or "Done. 🎉": the emoji is the sentence's last character, marks aside, or the next one's first. */
export const emoji: Of<'format:emoji'> = (response) => {
  const all = sentences(response).map((sentence) => withoutPunctuation(sentence).trim());
  return all.every(
    (sentence, index) =>
      endsWithEmoji.test(sentence.slice(-longestEmoji)) ||
      beginsWithEmoji.test((all[index + 1] ?? '').slice(0, longestEmoji)),
  );
};

const startsLower = /^\p{Ll}/u;
/** iPhone, eBay: spelt with a small letter before a capital wherever they stand. */
const smallName = /^\p{Ll}+\p{Lu}/u;

/** Every word but the minor ones begins with a capital; the first always does. */
export const titleCase: Of<'format:title_case'> = (response) => {
  const words = chunks(response).map(trimMarks);
  return words.every(
    (word, index) =>
      !startsLower.test(word) || smallName.test(word) || (index > 0 && minorWords.has(word.toLowerCase())),
  );
};
