// When a decimal is taken for a number that no decimal of its length can write: it must have at least twelve
// significant digits, all of them right, the last one rounded or cut off. Fewer digits are an approximation, and an
// approximation is another number.
import type { Rational } from './rational.ts';

const enoughDigits = 12;

/** Digits behind the point of a plain decimal that has enough of them. */
export function longDecimal(text: string): { readonly scaled: bigint; readonly places: number } | undefined {
  const [, sign, whole, places] = /^(-?)(\d*)\.(\d+)$/.exec(text) ?? [];
  if (whole === undefined || places === undefined || text.length > 100) return undefined;
  if (`${whole}${places}`.replace(/^0+/, '').length < enoughDigits) return undefined;
  const scaled = BigInt(`${whole}${places}`);
  return { scaled: sign === '-' ? -scaled : scaled, places: places.length };
}

/** Whether the decimal is `value` rounded to, or cut off after, as many places. */
export function roundsTo(text: string, value: Rational): boolean {
  const decimal = longDecimal(text);
  if (decimal === undefined) return false;
  const scale = 10n ** BigInt(decimal.places);
  const over = value.over * scale;
  const [cut, rest] = [over / value.under, over % value.under];
  if (rest === 0n) return false;
  const away = over < 0n ? -1n : 1n;
  const rounded = 2n * (rest < 0n ? -rest : rest) >= value.under ? cut + away : cut;
  return decimal.scaled === cut || decimal.scaled === rounded;
}
