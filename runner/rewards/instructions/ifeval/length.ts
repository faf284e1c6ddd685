// IFEval's family `length_constraints`.
import type { ifevalArguments } from '../../../../api/contract/instructions/ifeval.ts';
import type { ChecksFor } from '../check.ts';
import { sentences } from '../text/sentences.ts';
import { words } from '../text/words.ts';
import { holds } from './relation.ts';

type Ids = `length_constraints:${string}`;
type Lengths = { [Id in Extract<keyof typeof ifevalArguments, Ids>]: (typeof ifevalArguments)[Id] };

export const lengthChecks: ChecksFor<Lengths> = {
  'length_constraints:number_sentences': (response, { num_sentences, relation }) =>
    holds(sentences(response).length, relation, num_sentences),
  /** Parted by `***`; a divider may also stand first and last, but two with nothing between them are no paragraph. */
  'length_constraints:number_paragraphs': (response, { num_paragraphs }) => {
    const blanks = response.split('***').map((paragraph) => paragraph.trim() === '');
    const inner = blanks.slice(1, -1);
    return !inner.includes(true) && blanks.filter((blank) => !blank).length === num_paragraphs;
  },
  'length_constraints:number_words': (response, { num_words, relation }) =>
    holds(words(response).length, relation, num_words),
  /** Paragraphs are parted by an empty line; blank ones do not count, and are not counted through as in the original. */
  'length_constraints:nth_paragraph_first_word': (
    response,
    { num_paragraphs, nth_paragraph, first_word },
  ) => {
    const paragraphs = response.split('\n\n').filter((paragraph) => paragraph.trim() !== '');
    return (
      paragraphs.length === num_paragraphs &&
      firstWord(paragraphs[nth_paragraph - 1] ?? '') === first_word.toLowerCase()
    );
  },
};

/** Without the quotes before it, up to its first punctuation. */
const firstWord = (paragraph: string): string =>
  /^\S*/
    .exec(paragraph.trimStart())?.[0]
    .replace(/^'*"*/, '')
    .replace(/[.,?!'"].*$/s, '')
    .toLowerCase() ?? '';
