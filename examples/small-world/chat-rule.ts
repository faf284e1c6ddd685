// What the pairs of the chat domain teach by example, as rows that a program can check: the measure of an answer in [0, 1],
// which no stage is trained on.
import type { InstructionRow, PreferenceRow } from '../../api/contract/task.ts';
import { askedThing, kindWord, mostWords, rudeWords } from './chat.ts';

/** Kind, about what was asked, not rude, brief. */
export const chatRule = ({ prompt }: PreferenceRow): InstructionRow => ({
  prompt,
  instruction_id_list: ['keywords:existence', 'keywords:forbidden_words', 'length_constraints:number_words'],
  kwargs: [
    { keywords: [kindWord, askedThing(prompt)] },
    { forbidden_words: [...rudeWords] },
    { relation: 'less than', num_words: mostWords },
  ],
});
