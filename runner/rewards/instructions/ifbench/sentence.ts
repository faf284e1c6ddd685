// IFBench's `sentence:` constraints: what each sentence must be, measured against the one before.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { sentences } from '../text/sentences.ts';
import { bareWords, spacedWords, wholeWord } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

/** Length of the longest run of neighbours that begin with the same letter; 0 where no two do. */
function longestAlliteration(sentence: string): number {
  let [longest, run, before] = [0, 0, ''];
  for (const word of spacedWords(sentence)) {
    const first = String.fromCodePoint(word.codePointAt(0)!);
    run = first === before ? run + 1 : 1;
    longest = Math.max(longest, run);
    before = first;
  }
  return longest > 1 ? longest : 0;
}

const rises = (counts: readonly number[], fits: (before: number, now: number) => boolean): boolean =>
  counts.length > 0 && counts.slice(1).every((now, index) => fits(counts[index]!, now));

/** "Each sentence must have a longer sequence of consecutive alliterative words than the previous one." */
export const alliterationIncrement: Of<'sentence:alliteration_increment'> = (response) =>
  rises(sentences(response).map(longestAlliteration), (before, now) => now > before);

/** Exactly {small_n} words more than the sentence before. */
export const increment: Of<'sentence:increment'> = (response, { small_n }) =>
  rises(
    sentences(response).map((sentence) => bareWords(sentence).length),
    (before, now) => now === before + small_n,
  );

/** The whole word, in any case, in the {N}-th sentence. */
export const keyword: Of<'sentence:keyword'> = (response, { word, N }) =>
  wholeWord(word, 'iu').test(sentences(response)[N - 1] ?? '');
