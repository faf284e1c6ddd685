// IFBench's `words:` constraints on the inside of words: their letters, lengths and syllables.
import { syllable } from 'syllable';
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { bareWords, chunks, filledLines, spacedWords } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

/** The next word begins with the next letter, 'a' after 'z'; the first may be any. What begins with no letter breaks it. */
export const alphabet: Of<'words:alphabet'> = (response) => {
  const letters = bareWords(response).map((word) => word.charCodeAt(0) - 97);
  return (
    letters.length > 0 &&
    letters.every(
      (letter, index) =>
        letter >= 0 && letter < 26 && (index === 0 || letter === (letters[index - 1]! + 1) % 26),
    )
  );
};

const letterOf = /\p{L}/u;
const cluster = /[bcdfghjklmnpqrstvwxyz]{2}/;

/** Each word with a letter in it has two consonants side by side; y is one. Numbers and lone marks are no words here. */
export const consonants: Of<'words:consonants'> = (response) => {
  const words = chunks(response.toLowerCase()).filter((chunk) => letterOf.test(chunk));
  return words.length > 0 && words.every((word) => cluster.test(word));
};

const shortestPalindrome = 5;

const isPalindrome = (word: string): boolean => {
  const letters = [...word];
  const half = Math.floor(letters.length / 2);
  return (
    letters.length >= shortestPalindrome &&
    letters.slice(0, half).every((letter, index) => letter === letters[letters.length - 1 - index])
  );
};

/** At least ten words that read the same both ways; the same one counts again. */
export const palindrome: Of<'words:palindrome'> = (response) =>
  bareWords(response).filter(isPalindrome).length >= 10;

const isPrime = (value: number): boolean => {
  if (value < 2) return false;
  for (let divisor = 2; divisor * divisor <= value; divisor++) if (value % divisor === 0) return false;
  return true;
};

/** The length of each word, its marks aside, in code points. */
export const primeLengths: Of<'words:prime_lengths'> = (response) => {
  const lengths = new Set(bareWords(response).map((word) => [...word].length));
  return lengths.size > 0 && [...lengths].every(isPrime);
};

/** No English word is longer; of what is longer only the front is counted. */
const longestWord = 60;

/** Words with an odd and an even number of syllables take turns. Syllables are counted by rule, not by a dictionary. */
export const oddEvenSyllables: Of<'words:odd_even_syllables'> = (response) => {
  let before: number | undefined;
  for (const word of spacedWords(response)) {
    const parity = syllable(word.slice(0, longestWord)) % 2;
    if (parity === before) return false;
    before = parity;
  }
  return true;
};

/** One paragraph, with no more than three of the five vowels in it. */
export const vowel: Of<'words:vowel'> = (response) =>
  filledLines(response).length === 1 && new Set(response.toLowerCase().match(/[aeiou]/g) ?? []).size <= 3;
