// IFBench's instruction ids -> their checks.
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { ChecksFor } from '../check.ts';
import * as count from './count.ts';
import * as custom from './custom.ts';
import * as layout from './layout.ts';
import * as letters from './letters.ts';
import * as marks from './marks.ts';
import * as ratio from './ratio.ts';
import * as repeat from './repeat.ts';
import * as sentence from './sentence.ts';
import * as tables from './tables.ts';
import * as words from './words.ts';

export const ifbenchChecks = {
  'count:conjunctions': count.conjunctions,
  'count:keywords_multiple': count.keywordsMultiple,
  'count:numbers': count.numbers,
  'count:person_names': count.names,
  'count:pronouns': count.pronounCount,
  'count:punctuation': count.punctuation,
  'count:unique_word_count': count.uniqueWords,
  'count:word_count_range': count.wordCountRange,
  'count:words_japanese': count.japaneseWords,
  'custom:character_reverse': custom.characterReverse,
  'custom:csv_city': tables.csvCity,
  'custom:csv_quotes': tables.csvQuotes,
  'custom:csv_special_character': tables.csvSpecialCharacter,
  'custom:date_format_list': custom.dateFormatList,
  'custom:european_capitals_sort': custom.europeanCapitals,
  'custom:mcq_count_length': custom.mcqCountLength,
  'custom:multiples': custom.multiples,
  'custom:reverse_newline': custom.reverseNewline,
  'custom:sentence_alphabet': custom.sentenceAlphabet,
  'custom:word_reverse': custom.wordReverse,
  'format:emoji': marks.emoji,
  'format:line_indent': layout.lineIndent,
  'format:list': layout.list,
  'format:newline': layout.newline,
  'format:no_bullets_bullets': layout.bulletsAfterSentences,
  'format:no_whitespace': layout.noWhitespace,
  'format:options': layout.options,
  'format:output_template': layout.outputTemplate,
  'format:parentheses': marks.parentheses,
  'format:quote_unquote': marks.quoteUnquote,
  'format:quotes': marks.quotes,
  'format:sub-bullets': layout.subBullets,
  'format:thesis': layout.thesis,
  'format:title_case': marks.titleCase,
  'ratio:overlap': ratio.overlap,
  'ratio:sentence_balance': ratio.sentenceBalance,
  'ratio:sentence_type': ratio.sentenceType,
  'ratio:sentence_words': ratio.sentenceWords,
  'ratio:stop_words': ratio.stopWordShare,
  'repeat:repeat_change': repeat.repeatChange,
  'repeat:repeat_simple': repeat.repeatSimple,
  'repeat:repeat_span': repeat.repeatSpan,
  'sentence:alliteration_increment': sentence.alliterationIncrement,
  'sentence:increment': sentence.increment,
  'sentence:keyword': sentence.keyword,
  'words:alphabet': letters.alphabet,
  'words:consonants': letters.consonants,
  'words:keywords_specific_position': words.keywordPosition,
  'words:last_first': words.lastFirst,
  'words:no_consecutive': words.noConsecutive,
  'words:odd_even_syllables': letters.oddEvenSyllables,
  'words:palindrome': letters.palindrome,
  'words:paragraph_last_first': words.paragraphLastFirst,
  'words:prime_lengths': letters.primeLengths,
  'words:repeats': words.repeats,
  'words:start_verb': words.startVerb,
  'words:vowel': letters.vowel,
  'words:words_position': words.keywordSecond,
} satisfies ChecksFor<typeof ifbenchArguments>;
