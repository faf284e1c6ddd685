// Whether a response mixes in a language that its prompt is not written in, its thinking included (Nemotron-Cascade, RLHF and
// math RL). Only clear cases count, as a false alarm punishes a right answer: symbols, names with accents, formulas and code
// are no language. A response wholly in Latin letters to a prompt in another script is none either: formulas and code are too.
import { wholeText } from '../../api/contract/prompt-text.ts';
import type { Prompt } from '../../api/contract/task.ts';
import { detectLanguage } from './language.ts';

/**
 * How many letters of a script, in words of that many letters at least, make a language. Shorter ones are symbols: a Russian
 * letter names a group, a Hebrew one a cardinal. Scripts of one sound or idea a letter need two letters in all.
 */
const SYLLABIC = { word: 1, total: 2 };
const ALPHABETIC = { word: 3, total: 3 };

/** Greek letters side by side are a product; a Greek word of more than one syllable carries an accent. */
const ACCENTED_GREEK = /[\u0386-\u038f\u03ac-\u03b0\u03cc-\u03ce\u1f00-\u1fff]/u;

interface Script {
  readonly name: string;
  readonly letter: RegExp;
  readonly words: RegExp;
  readonly least: { readonly word: number; readonly total: number };
  /** Scripts that come with it: a prompt in katakana may be answered in kanji. */
  readonly impliedBy: readonly RegExp[];
}

const letterOf = (name: string): RegExp => new RegExp(`\\p{Script=${name}}`, 'u');

const script = (name: string, least: Script['least'], impliedBy: readonly string[] = []): Script => ({
  name,
  letter: letterOf(name),
  words: new RegExp(`(?:\\p{Script=${name}}\\p{M}*)+`, 'gu'),
  least,
  impliedBy: impliedBy.map(letterOf),
});

const SCRIPTS: readonly Script[] = [
  script('Han', SYLLABIC, ['Hiragana', 'Katakana']),
  script('Hiragana', SYLLABIC, ['Katakana']),
  script('Katakana', SYLLABIC, ['Hiragana']),
  script('Hangul', SYLLABIC),
  script('Thai', SYLLABIC),
  ...['Cyrillic', 'Arabic', 'Hebrew', 'Devanagari', 'Bengali', 'Tamil', 'Telugu', 'Gujarati', 'Gurmukhi'].map(
    (name) => script(name, ALPHABETIC),
  ),
  ...['Kannada', 'Malayalam', 'Sinhala', 'Armenian', 'Georgian', 'Ethiopic', 'Khmer', 'Lao', 'Myanmar'].map(
    (name) => script(name, ALPHABETIC),
  ),
  script('Greek', ALPHABETIC),
];

/** Nothing of it is a letter of a script above: the ranges of Latin, and those of marks and symbols. */
const LATIN_ONLY = /^[\u0000-\u036f\u1e00-\u1eff\u2000-\u2bff]*$/;

/** Words that a language in Latin letters is told from; of fewer, any answer is a guess. */
const HEARD_WORDS = 50;

/** Frequent in English, and words of no other language in Latin letters that is told here. */
const ENGLISH_WORDS = new Set(
  'the and that with which this these are have has from then they their there since because where would should when what'.split(
    ' ',
  ),
);
const ENGLISH_WORDS_HEARD = 5;

export function mixesLanguages(prompt: Prompt, response: string): boolean {
  const asked = wholeText(prompt);
  return mixesScripts(asked, response) || mixesLatinLanguages(asked, response);
}

/** A letter of a script in the prompt, even a symbol, allows that script: when unsure there is no mixing. */
function mixesScripts(asked: string, response: string): boolean {
  if (LATIN_ONLY.test(response)) return false;
  const prose = withoutCode(response);
  return SCRIPTS.some(({ name, letter, words, least, impliedBy }) => {
    if (letter.test(asked) || impliedBy.some((other) => other.test(asked))) return false;
    const found = (prose.match(words) ?? []).filter(
      (word) => word.length >= least.word && (name !== 'Greek' || ACCENTED_GREEK.test(word)),
    );
    return found.reduce((total, word) => total + word.length, 0) >= least.total;
  });
}

/** Only beside a prompt that is surely English: it must not be guessed which of two close languages a short one is in. */
function mixesLatinLanguages(asked: string, response: string): boolean {
  const words =
    (response.length > 4 * HEARD_WORDS ? withoutFormulas(withoutCode(response)) : '').match(
      /\p{Script=Latin}{2,}/gu,
    ) ?? [];
  if (words.length < HEARD_WORDS || detectLanguage(asked) !== 'en') return false;
  for (let at = 0; at + HEARD_WORDS <= words.length; at += HEARD_WORDS) {
    const passage = words.slice(at, at + HEARD_WORDS);
    if (isPlainlyEnglish(passage)) continue;
    const heard = detectLanguage(passage.join(' '));
    if (heard !== undefined && heard !== 'en') return true;
  }
  return false;
}

/** Telling a language costs a hundred times what these words do, and nearly every passage is English. */
const isPlainlyEnglish = (words: readonly string[]): boolean =>
  words.filter((word) => ENGLISH_WORDS.has(word.toLowerCase())).length >= ENGLISH_WORDS_HEARD;

/** Without what stands between fences or backticks; what is never closed is no code. */
function withoutCode(text: string): string {
  const parts = text.split('```');
  const prose = parts.filter((_, index) => index % 2 === 0 || index === parts.length - 1).join('\n');
  return prose.replaceAll(/`[^`\n]*`/g, ' ');
}

/** Without LaTeX between its delimiters and without commands. The lengths are bounded: what is never closed costs no more. */
function withoutFormulas(text: string): string {
  return text
    .replaceAll(/\$\$[^$]{0,1000}\$\$|\$[^$\n]{0,500}\$|\\\([^\n]{0,500}?\\\)|\\\[[^\]]{0,1000}?\\\]/g, ' ')
    .replaceAll(/\\[a-zA-Z]+/g, ' ');
}
