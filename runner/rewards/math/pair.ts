// The two answers of a comparison, read. What a response says depends on the gold in one point: beside a gold that is the
// letter of a choice, "(B) 12" chooses B; beside any other it is the text that it is.
import { parseAnswer } from './parse-answer.ts';
import type { Value } from './value.ts';

/** Texts of answers, as extracted. */
export interface Pair {
  readonly gold: string;
  readonly given: string;
}

/** Undefined where one of the two is empty or too long, or where one counts dollars and the other cents. */
export function readPair({ gold, given }: Pair): readonly [gold: Value, given: Value] | undefined {
  if (differInMoney(gold, given)) return undefined;
  const wanted = parseAnswer(gold);
  if (wanted === undefined) return undefined;
  const found = (isChoice(wanted) ? labelledChoice(given) : undefined) ?? parseAnswer(given);
  return found && [wanted, found];
}

/** Signs of currency are taken off with the typesetting, and a missing unit is taken on trust: here is none missing. */
export const differInMoney = (one: string, other: string): boolean =>
  (isCents(one) && isCurrency(other)) || (isCurrency(one) && isCents(other));

const currency = /[$€£]|\bdollars?\b/i;
const cents = /\bcents?\b|¢/i;
const isCents = (text: string): boolean => cents.test(text) && !currency.test(text);
const isCurrency = (text: string): boolean => /\\\$|[€£]|\bdollars?\b/i.test(text) && !cents.test(text);

const isChoice = (value: Value): boolean => value.kind === 'expression' && /^[A-J]$/.test(value.text);

/** "(B) 12" and "B. 12" choose B; where a second letter is named nothing is chosen. */
function labelledChoice(source: string): Value | undefined {
  const [, letter, rest] =
    /^[\s$]*(?:\\[a-z]+\s*\{\s*)?\(?([A-J])[).]\s*\}?(?:\s|~|\\[ ,;:!]|\\q?quad(?![A-Za-z]))+([^\s=+*/-].*)$/s.exec(
      source,
    ) ?? [];
  return rest === undefined || /(?<![A-Za-z\\])[A-J](?![A-Za-z])/.test(rest) ? undefined : choice(letter!);
}

const choice = (letter: string): Value => ({ kind: 'expression', text: letter, unit: '' });
