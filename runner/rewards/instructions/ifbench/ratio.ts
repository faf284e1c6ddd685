// IFBench's `ratio:` constraints: shares of words, of trigrams, of kinds of sentence.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { words } from '../text/words.ts';
import { stopWords } from './text/lists.ts';
import { sentences } from '../text/sentences.ts';
import { treebankTokens } from '../text/tokens.ts';
import { bareWords } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

const trigrams = (tokens: readonly string[]): Set<string> =>
  new Set(tokens.slice(2).map((token, index) => `${tokens[index]} ${tokens[index + 1]} ${token}`));

/** Per cent of the response's different word trigrams that the reference has too, within 2 of what is asked. */
export const overlap: Of<'ratio:overlap'> = (response, { reference_text, percentage }) => {
  const own = trigrams(treebankTokens(response));
  const reference = trigrams(treebankTokens(reference_text));
  if (own.size === 0) return false;
  const shared = [...own].filter((trigram) => reference.has(trigram)).length;
  return Math.abs((shared / own.size) * 100 - percentage) <= 2;
};

interface Kinds {
  readonly declarative: number;
  readonly interrogative: number;
  readonly exclamatory: number;
}

/** A sentence's kind is its last mark, closing quotes and brackets aside. */
function kinds(response: string): Kinds {
  const ends = sentences(response).map((sentence) => /([.?!])["')\]}”’*_]*$/.exec(sentence.slice(-10))?.[1]);
  const count = (mark: string): number => ends.filter((end) => end === mark).length;
  return { declarative: count('.'), interrogative: count('?'), exclamatory: count('!') };
}

/** As many of each kind, at least one: a text without sentences has no balance. */
export const sentenceBalance: Of<'ratio:sentence_balance'> = (response) => {
  const { declarative, interrogative, exclamatory } = kinds(response);
  return declarative > 0 && declarative === interrogative && interrogative === exclamatory;
};

/** Two declarative sentences for each interrogative one, and at least one of these. */
export const sentenceType: Of<'ratio:sentence_type'> = (response) => {
  const { declarative, interrogative } = kinds(response);
  return interrogative > 0 && declarative === 2 * interrogative;
};

/** Three sentences of as many characters (code points), no word twice among all of them. */
export const sentenceWords: Of<'ratio:sentence_words'> = (response) => {
  const three = sentences(response);
  const all = bareWords(response);
  return (
    three.length === 3 &&
    new Set(three.map((sentence) => [...sentence].length)).size === 1 &&
    new Set(all).size === all.length
  );
};

/** At most {percentage} per cent of the runs of letters and digits; a text without words has no share. */
export const stopWordShare: Of<'ratio:stop_words'> = (response, { percentage }) => {
  const all = words(response.toLowerCase());
  const stops = all.filter((word) => stopWords.has(word)).length;
  return all.length > 0 && (stops / all.length) * 100 <= percentage;
};
