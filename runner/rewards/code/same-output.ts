// Whether a program printed what it should, as LiveCodeBench compares: line by line without the white space around a line
// and around the whole; a line may also agree as a list of decimal numbers of exactly equal value (1.0 and 1). No tolerance.
import { trimEnd } from '../trim-end.ts';

/** The number of the first line that differs, from 1; undefined where the outputs agree. */
export function differingLine(wanted: string, given: string): number | undefined {
  const [wantedLines, givenLines] = [linesOf(wanted), linesOf(given)];
  const at = wantedLines.findIndex((line, index) => !sameLine(line, givenLines[index]));
  if (at >= 0) return at + 1;
  return givenLines.length > wantedLines.length ? wantedLines.length + 1 : undefined;
}

const linesOf = (text: string): string[] => {
  const trimmed = text.trim();
  return trimmed === '' ? [] : trimmed.split('\n').map((line) => line.trim());
};

function sameLine(wanted: string, given: string | undefined): boolean {
  if (given === undefined) return false;
  if (wanted === given) return true;
  const [wantedTokens, givenTokens] = [wanted.split(/\s+/), given.split(/\s+/)];
  return (
    wantedTokens.length === givenTokens.length &&
    wantedTokens.every((token, index) => sameDecimal(token, givenTokens[index] as string))
  );
}

const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

const sameDecimal = (wanted: string, given: string): boolean => {
  const value = canonical(wanted);
  return value !== undefined && value === canonical(given);
};

/** Sign, digits without zeros at either end, exponent of the last digit: equal where the values are. */
function canonical(token: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = decimal.exec(token) ?? [];
  const digits = whole + fraction;
  if (sign === undefined || digits === '') return undefined;
  const leading = digits.replace(/^0+/, '');
  if (leading === '') return '0';
  const significant = trimEnd(leading, /0/);
  const scale = Number(exponent) - fraction.length + leading.length - significant.length;
  return `${sign === '-' ? '-' : ''}${significant}e${scale}`;
}
