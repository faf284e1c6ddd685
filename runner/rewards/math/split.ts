// Cutting normalised text at signs that stand outside all brackets.
import { listComma } from './latex.ts';

export interface Cut {
  readonly parts: readonly string[];
  /** The sign between part i and part i + 1. */
  readonly signs: readonly string[];
}

/** Undefined where brackets do not match. */
export function cutAt(text: string, signs: string): Cut | undefined {
  const parts = [''];
  const found: string[] = [];
  let depth = 0;
  for (const character of text) {
    if ('([{⦃'.includes(character)) depth++;
    if (')]}⦄'.includes(character)) depth--;
    if (depth < 0) return undefined;
    if (depth === 0 && signs.includes(character)) {
      parts.push('');
      found.push(character);
    } else parts[parts.length - 1] += character;
  }
  return depth === 0 ? { parts, signs: found } : undefined;
}

const maxParts = 100;

/**
 * Parts between commas; undefined where there are fewer than `least`, too many, or an empty one, and where one begins with a zero
 * too many, as "000" does: what looks like a pair may be a number with its thousands apart.
 */
export function listParts(text: string, least: number): readonly string[] | undefined {
  const semicolons = cutAt(text, ';')?.parts;
  const parts =
    semicolons !== undefined && semicolons.length > 1 ? semicolons : cutAt(text, `,${listComma}`)?.parts;
  if (parts === undefined || parts.length < least || parts.length > maxParts || parts.includes(''))
    return undefined;
  if (parts.some((part) => /^\s*-?0\d/.test(part))) return undefined;
  return parts.map((part) => part.trim());
}

/** "and" and "or" between answers are commas. */
export const conjunctionsAsCommas = (text: string): string =>
  text.replace(/,?(?<![A-Za-z\\])(?:\\(?=and|or))?(?:and|or)(?![A-Za-z])/g, ',');
