// IFEval's family `keywords`, and `punctuation`, which is of its kind. Keywords are literal text whatever their case, not
// regular expressions as in the original, where a keyword with a "." or "+" means something else than it says.
import type { ifevalArguments } from '../../../../api/contract/instructions/ifeval.ts';
import type { ChecksFor } from '../check.ts';
import { hasWord, occurrences } from '../text/words.ts';
import { holds } from './relation.ts';

type Ids = `keywords:${string}` | 'punctuation:no_comma';
type Keywords = { [Id in Extract<keyof typeof ifevalArguments, Ids>]: (typeof ifevalArguments)[Id] };

export const keywordChecks: ChecksFor<Keywords> = {
  /** Inside other words too ("le" in "people"), as the original. */
  'keywords:existence': (response, { keywords }) => {
    const text = response.toLowerCase();
    return keywords.every((keyword) => text.includes(keyword.toLowerCase()));
  },
  'keywords:frequency': (response, { keyword, frequency, relation }) =>
    holds(occurrences(response.toLowerCase(), keyword.trim().toLowerCase()), relation, frequency),
  /** Whole words only. */
  'keywords:forbidden_words': (response, { forbidden_words }) => {
    const text = response.toLowerCase();
    return !forbidden_words.some((word) => hasWord(text, word.toLowerCase()));
  },
  'keywords:letter_frequency': (response, { letter, let_frequency, let_relation }) =>
    holds(occurrences(response.toLowerCase(), letter.toLowerCase()), let_relation, let_frequency),
  /** The ASCII comma, as the original: the commas of other scripts are other characters. */
  'punctuation:no_comma': (response) => !response.includes(','),
};
