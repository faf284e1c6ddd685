// IFEval's 25 verifiable instructions (Zhou et al. 2023, arXiv 2311.07911): id -> the arguments that its instruction takes.
// What an instruction asks of a response is decided in runner/rewards/instructions, by a table with the same keys.
import { z } from 'zod';

/** Every count is a threshold above 0: "at least 0" could not fail and "less than 0" could not be met. */
const count = z.int().positive();
const relation = z.enum(['less than', 'at least']);
export type Relation = z.infer<typeof relation>;
const words = z.string().refine((text) => text.trim() !== '', 'must not be blank');

/** ISO 639-1; the languages that IFEval asks for. */
export const askedLanguage = z.enum(
  'en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi'.split(' '),
);

const nothing = z.strictObject({});

export const ifevalArguments = {
  'keywords:existence': z.strictObject({ keywords: z.array(words).min(1) }),
  'keywords:frequency': z.strictObject({ keyword: words, frequency: count, relation }),
  'keywords:forbidden_words': z.strictObject({ forbidden_words: z.array(words).min(1) }),
  'keywords:letter_frequency': z.strictObject({
    letter: words.refine((text) => [...text].length === 1, 'must be one character'),
    let_frequency: count,
    let_relation: relation,
  }),
  'language:response_language': z.strictObject({ language: askedLanguage }),
  'length_constraints:number_sentences': z.strictObject({ num_sentences: count, relation }),
  'length_constraints:number_paragraphs': z.strictObject({ num_paragraphs: count }),
  'length_constraints:number_words': z.strictObject({ num_words: count, relation }),
  'length_constraints:nth_paragraph_first_word': z
    .strictObject({ num_paragraphs: count, nth_paragraph: count, first_word: words })
    .refine(({ num_paragraphs, nth_paragraph }) => nth_paragraph <= num_paragraphs, {
      path: ['nth_paragraph'],
      message: 'must not be above num_paragraphs',
    }),
  'detectable_content:number_placeholders': z.strictObject({ num_placeholders: count }),
  'detectable_content:postscript': z.strictObject({ postscript_marker: words }),
  'detectable_format:number_bullet_lists': z.strictObject({ num_bullets: count }),
  'detectable_format:constrained_response': nothing,
  'detectable_format:number_highlighted_sections': z.strictObject({ num_highlights: count }),
  'detectable_format:multiple_sections': z.strictObject({ section_spliter: words, num_sections: count }),
  'detectable_format:json_format': nothing,
  'detectable_format:title': nothing,
  'combination:two_responses': nothing,
  'combination:repeat_prompt': z.strictObject({ prompt_to_repeat: words }),
  'startend:end_checker': z.strictObject({ end_phrase: words }),
  'startend:quotation': nothing,
  'change_case:capital_word_frequency': z.strictObject({
    capital_frequency: count,
    capital_relation: relation,
  }),
  'change_case:english_capital': nothing,
  'change_case:english_lowercase': nothing,
  'punctuation:no_comma': nothing,
} as const;
