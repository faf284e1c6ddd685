// IFBench's other `custom:` constraints: the whole task is given, so its answer is known.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { africanCountries, northernCapitals } from './text/lists.ts';
import { sentences } from '../text/sentences.ts';
import { bareWords, filledLines, withoutLeadingMarks } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

const follow = (words: readonly string[], first: string, second: string): boolean =>
  words.some((word, index) => word === first && words[index + 1] === second);

/** "What animal is the national symbol of the US?", the words of the answer from last to first. */
export const wordReverse: Of<'custom:word_reverse'> = (response) => {
  const words = bareWords(response);
  return follow(words, 'eagle', 'bald') && !follow(words, 'bald', 'eagle');
};

/** The same, letter by letter. */
export const characterReverse: Of<'custom:character_reverse'> = (response) => {
  const text = response.toLowerCase();
  return text.includes('elgae dlab') && !text.includes('bald eagle');
};

/** The start dates of Napoleon's battles: dates of his lifetime that exist, and nothing else. */
export const dateFormatList: Of<'custom:date_format_list'> = (response) =>
  response.split(',').every((text) => {
    const date = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim());
    if (date === null) return false;
    const [year, month, day] = date.slice(1).map(Number) as [number, number, number];
    const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
    return year >= 1769 && year <= 1821 && month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
  });

/** Without accents, marks and numbers: "12. Côte d’Ivoire" is "cote d ivoire". */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim();

const otherSpellings: Readonly<Record<string, string>> = { kiev: 'kyiv', berne: 'bern' };

/** The capitals north of 45 degrees, all of them, from north to south, commas between. */
export const europeanCapitals: Of<'custom:european_capitals_sort'> = (response) => {
  const given = response.split(',');
  return (
    given.length === northernCapitals.length &&
    given
      .map(plain)
      .every((capital, index) => (otherSpellings[capital] ?? capital) === northernCapitals[index])
  );
};

/** "Count from 10 to 50 but only print multiples of 7": these numbers and no others. */
export const multiples: Of<'custom:multiples'> = (response) =>
  (response.match(/\d+/g) ?? []).join() === '14,21,28,35,42,49';

const countryNumbers = new Map(
  africanCountries.flatMap((names, index) => names.map((name) => [name, index])),
);
/** Sources count 52 to 55 states; fewer than this leave out one that all count. */
const fewestCountries = 52;

/** African countries, one a line, from Zimbabwe to Algeria; lines before Zimbabwe introduce the list. */
export const reverseNewline: Of<'custom:reverse_newline'> = (response) => {
  const all = filledLines(response).map((line) => plain(line).replace(/^the /, ''));
  const countries = all.slice(Math.max(0, all.indexOf('zimbabwe'))).filter((line) => line !== '');
  const known = new Set(countries.map((line) => countryNumbers.get(line)));
  return (
    countries[0] === 'zimbabwe' &&
    countries.every((line) => line === 'western sahara' || countryNumbers.has(line)) &&
    known.size >= fewestCountries &&
    countries.every((line, index) => index === 0 || line < countries[index - 1]!)
  );
};

/** 26 sentences whose first words begin with a, b, c … */
export const sentenceAlphabet: Of<'custom:sentence_alphabet'> = (response) => {
  const initials = sentences(response).map((sentence) =>
    withoutLeadingMarks(sentence).slice(0, 1).toLowerCase(),
  );
  return initials.join('') === 'abcdefghijklmnopqrstuvwxyz';
};

const option = /^[-*\s]*\(?[a-e][.):]\s*\S/i;

/** Text and options of one question; undefined where anything follows the options. */
function lengthOfQuestion(block: readonly string[]): number | undefined {
  const first = block.findIndex((line) => option.test(line));
  const options = block.slice(first);
  if (first < 1 || options.length !== 5 || !options.every((line) => option.test(line))) return undefined;
  const label = /^Question\s*\d*\s*[.:)]?\s*/.exec(block[0]!)![0];
  return block.slice(0, first).join(' ').slice(label.length).trim().length;
}

/** Four questions, each labelled "Question", each longer than the one before, each with five options, and nothing else. */
export const mcqCountLength: Of<'custom:mcq_count_length'> = (response) => {
  const blocks: string[][] = [];
  for (const line of filledLines(response).map((filled) => filled.trim())) {
    if (line.startsWith('Question')) blocks.push([line]);
    else if (blocks.length === 0) return false;
    else blocks.at(-1)!.push(line);
  }
  const lengths = blocks.map(lengthOfQuestion);
  return (
    lengths.length === 4 &&
    lengths.every((length, index) => length !== undefined && length > (index === 0 ? 0 : lengths[index - 1]!))
  );
};
