// IFBench's `words:` constraints on which words stand where.
import nlp from 'compromise/two';
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { sentences } from '../text/sentences.ts';
import { treebankTokens } from '../text/tokens.ts';
import { bareWords, filledLines, spacedWords } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

/** The {m}-th word of the {n}-th sentence, counted from 1. */
export const keywordPosition: Of<'words:keywords_specific_position'> = (response, { keyword, n, m }) =>
  spacedWords(sentences(response)[n - 1] ?? '')[m - 1] === keyword.toLowerCase();

/** The second word and the second to last. */
export const keywordSecond: Of<'words:words_position'> = (response, { keyword }) => {
  const words = spacedWords(response);
  return words.length > 2 && words[1] === keyword.toLowerCase() && words.at(-2) === keyword.toLowerCase();
};

/** The last word of each sentence is the first of the next; a response of one sentence has nothing to break. */
export const lastFirst: Of<'words:last_first'> = (response) => {
  const words = sentences(response).map(spacedWords);
  return words.every((now, index) => index === 0 || (now.length > 0 && now[0] === words[index - 1]!.at(-1)));
};

/** Each line with a word on it is a paragraph, and ends with the word it began with. */
export const paragraphLastFirst: Of<'words:paragraph_last_first'> = (response) =>
  filledLines(response)
    .map(spacedWords)
    .every((words) => words[0] === words.at(-1));

const initial = (word: string): number => word.codePointAt(0)!;

/** No two neighbours begin with the same letter. */
export const noConsecutive: Of<'words:no_consecutive'> = (response) => {
  const words = bareWords(response);
  return words.every((word, index) => index === 0 || initial(word) !== initial(words[index - 1]!));
};

/** No word, in any case, more than {small_n} times. */
export const repeats: Of<'words:repeats'> = (response, { small_n }) => {
  const counts = new Map<string, number>();
  for (const word of bareWords(response)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Math.max(0, ...new Set(counts.values())) <= small_n;
};

/** What a tagger of parts of speech sees: enough of the first sentence to tell "Run the tests" from "Run times vary". */
const taggedLength = 200;
const taggedWords = 12;

/** The first word is a verb in its sentence, in any form. Before a colon it is a label ("Subject:"), whatever it could be elsewhere. */
export const startVerb: Of<'words:start_verb'> = (response) => {
  const start = treebankTokens(response.trimStart().slice(0, taggedLength)).slice(0, taggedWords);
  if (!/^\p{L}/u.test(start[0] ?? '') || start[1] === ':') return false;
  return nlp(start.join(' ')).first().match('^#Verb').found;
};
