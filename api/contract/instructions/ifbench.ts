// Arguments of the 58 instruction types of IFBench ("Generalizing Verifiable Instruction Following", Pyatkin et al. 2025),
// by instruction id. Strict: an argument too many, too few, or one that no response could satisfy is refused where a dataset
// is registered, never graded. Nulls are stripped before, and 5.0 is 5.
import { z } from 'zod';

const none = z.strictObject({});
const count = z.number().int().min(0);
const atLeastOne = z.number().int().min(1);
const percentage = z.number().min(0).max(100);
const text = z.string().refine((value) => value.trim() !== '', 'must not be blank');
/** A keyword that is asked for as one word. */
const word = z
  .string()
  .trim()
  .regex(/^\S*[\p{L}\p{N}]\S*$/u, 'must be one word');
const wordsOf = (value: string): number => value.trim().split(/\s+/).length;

/** How often each keyword of `count:keywords_multiple` is wanted. */
export const keywordCounts = { keyword1: 1, keyword2: 2, keyword3: 3, keyword4: 5, keyword5: 7 } as const;

const keywords = z
  .strictObject({ keyword1: text, keyword2: text, keyword3: text, keyword4: text, keyword5: text })
  .refine(
    (given) => new Set(Object.values(given).map((keyword) => keyword.trim().toLowerCase())).size === 5,
    'the five keywords must differ: each is wanted another number of times',
  );

/** "yes/no/maybe", "I know or I don't know", "a), b), c), d)": separated by the first of slash, "or", comma that occurs. */
export function listedOptions(options: string): string[] {
  const separator = [/\//, /\bor\b/, /,/].find((candidate) => candidate.test(options)) ?? /,/;
  return options.split(separator).map((option) => option.trim());
}

const repeatedSpan = z
  .strictObject({ prompt_to_repeat: text, n_start: count, n_end: count })
  .refine(({ n_start, n_end }) => n_start <= n_end, 'n_start must not lie after n_end')
  .refine(
    ({ n_end, prompt_to_repeat }) => n_end < wordsOf(prompt_to_repeat),
    'n_end must be the index of a word of prompt_to_repeat, counted from 0',
  );

export const ifbenchArguments = {
  'count:conjunctions': z.strictObject({ small_n: atLeastOne.max(7) }),
  'count:keywords_multiple': keywords,
  'count:numbers': z.strictObject({ N: count }),
  'count:person_names': z.strictObject({ N: atLeastOne.max(50) }),
  'count:pronouns': z.strictObject({ N: atLeastOne }),
  'count:punctuation': none,
  'count:unique_word_count': z.strictObject({ N: atLeastOne }),
  'count:word_count_range': z
    .strictObject({ min_words: count, max_words: atLeastOne })
    .refine(({ min_words, max_words }) => min_words <= max_words, 'min_words must not exceed max_words'),
  'count:words_japanese': z.strictObject({ N: atLeastOne }),
  'custom:character_reverse': none,
  'custom:csv_city': none,
  'custom:csv_quotes': none,
  'custom:csv_special_character': none,
  'custom:date_format_list': none,
  'custom:european_capitals_sort': none,
  'custom:mcq_count_length': none,
  'custom:multiples': none,
  'custom:reverse_newline': none,
  'custom:sentence_alphabet': none,
  'custom:word_reverse': none,
  'format:emoji': none,
  'format:line_indent': none,
  'format:list': z.strictObject({ sep: text }),
  'format:newline': none,
  'format:no_bullets_bullets': none,
  'format:no_whitespace': none,
  'format:options': z.strictObject({
    options: text.refine(
      (options) => listedOptions(options).length > 1 && !listedOptions(options).includes(''),
      'must name at least two options, separated by "/", "or" or ","',
    ),
  }),
  'format:output_template': none,
  'format:parentheses': none,
  'format:quote_unquote': none,
  'format:quotes': none,
  'format:sub-bullets': none,
  'format:thesis': none,
  'format:title_case': none,
  'ratio:overlap': z.strictObject({ reference_text: text, percentage }),
  'ratio:sentence_balance': none,
  'ratio:sentence_type': none,
  'ratio:sentence_words': none,
  'ratio:stop_words': z.strictObject({ percentage }),
  'repeat:repeat_change': z.strictObject({ prompt_to_repeat: text }),
  'repeat:repeat_simple': none,
  'repeat:repeat_span': repeatedSpan,
  'sentence:alliteration_increment': none,
  'sentence:increment': z.strictObject({ small_n: atLeastOne }),
  'sentence:keyword': z.strictObject({ word: text, N: atLeastOne }),
  'words:alphabet': none,
  'words:consonants': none,
  'words:keywords_specific_position': z.strictObject({ keyword: word, n: atLeastOne, m: atLeastOne }),
  'words:last_first': none,
  'words:no_consecutive': none,
  'words:odd_even_syllables': none,
  'words:palindrome': none,
  'words:paragraph_last_first': none,
  'words:prime_lengths': none,
  'words:repeats': z.strictObject({ small_n: atLeastOne }),
  'words:start_verb': none,
  'words:vowel': none,
  'words:words_position': z.strictObject({ keyword: word }),
} as const;

export type IfbenchId = keyof typeof ifbenchArguments;
