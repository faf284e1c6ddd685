// IFBench's `count:` constraints: how many words, names, numbers or marks of a kind a response holds.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import { keywordCounts } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { coordinatingConjunctions, personNames, pronouns } from './text/lists.ts';
import { words } from '../text/words.ts';
import { chunks, spacedWords, trimMarks, wholeWord } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

const within = (all: readonly string[], list: ReadonlySet<string>): string[] =>
  all.filter((word) => list.has(word));

/** "Use at least {small_n} different coordinating conjunctions"; "And" and "and," are one. */
export const conjunctions: Of<'count:conjunctions'> = (response, { small_n }) =>
  new Set(within(spacedWords(response), coordinatingConjunctions)).size >= small_n;

/** Whole words in any case, each exactly as often as its argument's name says. */
export const keywordsMultiple: Of<'count:keywords_multiple'> = (response, keywords) =>
  Object.entries(keywordCounts).every(
    ([name, wanted]) =>
      (response.match(wholeWord(keywords[name as keyof typeof keywordCounts])) ?? []).length === wanted,
  );

/** With thousands separators and decimals; a date or a time is one number: "1,250.5", "12:30", "2024-05-01". */
const number = /\d{4}-\d{2}-\d{2}|\d+(?:[.,:/]\d+)*/g;

/** "Include exactly {N} numbers"; numbers written as words do not count. */
export const numbers: Of<'count:numbers'> = (response, { N }) => (response.match(number) ?? []).length === N;

/** At least {N} different names of the constraint's own list, written with their capital. */
export const names: Of<'count:person_names'> = (response, { N }) => {
  const used = new Set(words(response));
  return personNames.filter((name) => used.has(name)).length >= N;
};

/** "it's" and "she/her" hold one and two. */
export const pronounCount: Of<'count:pronouns'> = (response, { N }) =>
  within(words(response.toLowerCase()), pronouns).length >= N;

/** The six marks and an interrobang, whose own two marks do not count for them. */
export const punctuation: Of<'count:punctuation'> = (response) => {
  const rest = response.replace(/\?!|!\?|[‽⁈⁉]/, '');
  return rest !== response && ['.', ',', '!', '?', ';', ':'].every((mark) => rest.includes(mark));
};

export const uniqueWords: Of<'count:unique_word_count'> = (response, { N }) =>
  new Set(spacedWords(response)).size >= N;

/** Runs of letters and digits, as IFEval counts words: "don't" is two. */
export const wordCountRange: Of<'count:word_count_range'> = (response, { min_words, max_words }) => {
  const count = words(response).length;
  return min_words <= count && count <= max_words;
};

const japanese = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u;

/** Words stand between white space; a number, or a mark alone, may stand in the place of a Japanese word. */
export const japaneseWords: Of<'count:words_japanese'> = (response, { N }) =>
  chunks(response).every((chunk, index) => {
    const word = trimMarks(chunk);
    return (index + 1) % N !== 0 || word === '' || /^\p{N}+$/u.test(word) || japanese.test(word);
  });
