// Words that stand between white space, with and without the marks on them. (Runs of letters and digits, which other
// constraints count, are ../../text/words.ts.) All linear in the length of the text: a response is a model's, so hostile.

const asciiPunctuation = new Set('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~');
/** What models write where a keyboard has no key; marks of a text as much as the ASCII ones. */
const typographic = new Set('“”‘’«»„‚…–—·•');

/** Below U+0080 a table: this is asked of every character of every word. */
const isEdge = (character: string): boolean =>
  asciiEdges[character.charCodeAt(0)] ?? (typographic.has(character) || character.trim() === '');
const asciiEdges = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return asciiPunctuation.has(character) || character.trim() === '';
});

/** Without punctuation marks anywhere: "it's" becomes "its", "well-known" "wellknown". */
export const withoutPunctuation = (text: string): string => text.replace(/[!-/:-@[-`{-~“”‘’«»„‚…–—·•]/g, '');

/** First index from `start` whose character is neither mark nor white space. */
const firstOfWord = (text: string, start = 0): number => {
  let at = start;
  while (at < text.length && isEdge(text[at]!)) at++;
  return at;
};

export const withoutLeadingMarks = (text: string): string => text.slice(firstOfWord(text));

/** Without the marks and white space on both sides. */
export function trimMarks(text: string): string {
  const start = firstOfWord(text);
  let end = text.length;
  while (end > start && isEdge(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** What stands between white space. */
export const chunks = (text: string): string[] => text.match(/\S+/g) ?? [];

/** The words between white space, in lower case and without the marks around them; a lone mark is no word. */
export const spacedWords = (text: string): string[] =>
  chunks(text.toLowerCase())
    .map(trimMarks)
    .filter((word) => word !== '');

/** The words between white space, in lower case and without any mark. */
export const bareWords = (text: string): string[] => chunks(withoutPunctuation(text.toLowerCase()));

export const lines = (text: string): string[] => text.split(/\r?\n/);

export const filledLines = (text: string): string[] => lines(text).filter((line) => line.trim() !== '');

const escaped = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Every whole-word occurrence, in any case; letters of all scripts bound a word. */
export const wholeWord = (literal: string, flags = 'giu'): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(literal.trim())}(?![\\p{L}\\p{N}_])`, flags);
