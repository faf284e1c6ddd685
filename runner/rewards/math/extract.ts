// Which part of a response is its answer. Precedence: the last complete \boxed{} (with those joined to it by "and"),
// the line after the last "####", what follows the last "answer is" or "answer:", then the last formula or plain
// expression, whichever stands later. A number that is part of an expression in running text is not an answer.
import { boxedAnswer } from './boxed.ts';
import { formulas, withAlternatives } from './formulas.ts';
import { lastExpression, ofSentence } from './plain.ts';
import { trimEnd } from '../trim-end.ts';

const statement = /\banswer(?:\s+is(?:\s*:)?|\s*:|\*\*\s*:)/gi;

/** The statement up to the end of its sentence. */
function stated(text: string): string | undefined {
  const last = [...text.matchAll(statement)].at(-1);
  if (last === undefined) return undefined;
  const rest = text.slice(last.index + last[0].length).replace(/^[\s*_"]+/, '');
  const found = formulas(rest);
  if (found[0]?.start === 0) return withAlternatives(rest, found, 0);
  const sentence = trimEnd(rest.split(/\n|\.(?:\s|$)/, 1)[0]!, /[\s*_".]/);
  const inside = formulas(sentence);
  if (inside.length === 1) return inside[0]!.content;
  return sentence === '' ? undefined : ofSentence(sentence);
}

const afterHashes = (text: string): string | undefined =>
  text.includes('####')
    ? text
        .slice(text.lastIndexOf('####') + 4)
        .trimStart()
        .split('\n', 1)[0]
    : undefined;

/** Chat templates' tokens, where a decoder wrote them out: the answer has ended. */
const beforeNextTurn = (text: string): string =>
  text.split(/<\|(?:im_start|im_end|endoftext|eot_id)\|>/, 1)[0]!;

/** What a response gives as its answer, or undefined where it gives none. */
export function responseAnswer(response: string): string | undefined {
  const text = beforeNextTurn(response);
  return boxedAnswer(text) ?? afterHashes(text) ?? stated(text) ?? lastExpression(text);
}

/** Formulas and nothing but "or", "and" and commas between: "$21,16$ or $11$". */
const onlyFormulas = (gold: string): string | undefined => {
  const whole = /^\s*(?:\$\$([^$]+)\$\$|\$([^$]+)\$|\\\((.+)\\\)|\\\[(.+)\\\])\s*\.?\s*$/s.exec(gold);
  return whole?.slice(1).find((part) => part !== undefined);
};

/** The gold of a row: boxed, after "####", stated, one formula, or as it stands. A gold is never guessed out of prose. */
export function goldAnswer(gold: string): string {
  return boxedAnswer(gold) ?? afterHashes(gold) ?? stated(gold) ?? onlyFormulas(gold) ?? gold;
}
