// What counts as a word where an instruction counts words: a run of letters, digits and underscores. The benchmarks' `\w+` in
// Python breaks words of Indic scripts at their vowel signs, which are marks and no letters; here marks belong to the word.

const word = /[\p{L}\p{M}\p{N}_]+/gu;
const wordCharacter = /[\p{L}\p{M}\p{N}_]/u;

/** "don't" is two of them, "well-known" too. */
export const words = (text: string): string[] => text.match(word) ?? [];

/** Does `needle` occur with a word boundary (regex `\b`) at both its ends? Case matters: lower both for a search without it. */
export function hasWord(text: string, needle: string): boolean {
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
    if (isBoundary(text, at) && isBoundary(text, at + needle.length)) return true;
  return false;
}

const isBoundary = (text: string, at: number): boolean =>
  isWordCharacter(text, characterBefore(text, at)) !== isWordCharacter(text, at);

const isWordCharacter = (text: string, at: number): boolean => {
  const code = text.codePointAt(at);
  return at >= 0 && code !== undefined && wordCharacter.test(String.fromCodePoint(code));
};

const characterBefore = (text: string, at: number): number => {
  const unit = text.charCodeAt(at - 1);
  return at >= 2 && unit >= 0xdc00 && unit <= 0xdfff ? at - 2 : at - 1;
};

/** Occurrences of `needle` that do not overlap, counted from the left. */
export function occurrences(text: string, needle: string): number {
  let count = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) count++;
  return count;
}

/** Python's `str.isupper`: there is a cased character, and none that is lower or title case. */
export const isUpper = (text: string): boolean =>
  /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

/** Python's `str.islower`. */
export const isLower = (text: string): boolean =>
  /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
