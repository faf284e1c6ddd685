// Tokens of English text by the Penn Treebank's rules, as nltk's `word_tokenize` gives them: punctuation apart, contractions in
// two ("DO", "N'T"), hyphenated words in one. Written from the rules; each step is linear in the text.
import { sentences } from './sentences.ts';
import { isUpper } from './words.ts';

type Step = readonly [RegExp, string];

/** In this order: a later step sees the spaces that earlier ones put in. */
const steps: readonly Step[] = [
  [/[«“‘„]|`+/g, ' $& '],
  [/([:,])(?!\d)/g, ' $1 '],
  [/\.{2,}/g, ' $& '],
  [/[;@#$%&?!*]/g, ' $& '],
  [/[[\](){}<>]/g, ' $& '],
  [/--/g, ' -- '],
  [/[»”’"]/g, ' $& '],
  [/''/g, " '' "],
  [/([^' ])('(?:ll|LL|re|RE|ve|VE)|n't|N'T)(?=\s)/g, '$1 $2'],
  [/([^' ])('[sSmMdD]?)(?=\s)/g, '$1 $2'],
  [/\b(can)(not)\b/gi, '$1 $2'],
  [/\b(gon|wan)(na)\b/gi, '$1 $2'],
  [/\b(got)(ta)\b/gi, '$1 $2'],
  [/\b(gim|lem)(me)\b/gi, '$1 $2'],
];

/** A period belongs to its token ("U.S.") except at the end of its sentence. */
export const treebankTokens = (text: string): string[] =>
  sentences(text).flatMap((sentence) => tokensOf(withFinalPeriodApart(sentence)));

/**
 * The tokens whose cased letters are all capitals (Python's `isupper`). A word without a capital has none and is not looked into,
 * and sentences need not be told apart, since a period changes no case.
 */
export function capitalTokens(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => /\p{Uppercase}/u.test(word));
  return tokensOf(words.join(' ')).filter(isUpper);
}

const tokensOf = (sentence: string): string[] =>
  steps
    .reduce((spaced, [form, by]) => spaced.replace(form, by), ` ${sentence} `)
    .split(/\s+/)
    .filter((token) => token !== '');

const withFinalPeriodApart = (sentence: string): string => {
  const [closing = ''] = /[\])}>"'»”’ ]*$/.exec(sentence.slice(-20)) ?? [];
  const end = sentence.length - closing.length;
  return sentence[end - 1] === '.' && sentence[end - 2] !== '.'
    ? `${sentence.slice(0, end - 1)} . ${closing}`
    : sentence;
};
