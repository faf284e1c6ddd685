// Rule-based check of a mathematical answer: 1 where it equals the gold as a value, 0 where it does not or where
// we are not sure. First version: exact rationals, units, collections and typesetting; no symbolic algebra.
import { answerPart } from './answer-part.ts';
import type { Answer } from './math/answer.ts';
import { parseAnswer, sameAnswer } from './math/answer.ts';
import { goldAnswer, responseAnswer } from './math/extract.ts';
import type { Reward } from './reward.ts';
import { invalid, scored } from './reward.ts';

/** A response that is nothing but an answer may be this long. */
const bareAnswerLength = 500;
/** An answer stands at the end; what lies before is not searched, so a long response costs no more than a short one. */
const searchedLength = 20_000;

const says = (gold: Answer, text: string | undefined): boolean => {
  const given = text === undefined ? undefined : parseAnswer(text);
  return given !== undefined && sameAnswer(gold, given);
};

export function mathReward(gold: string, response: string): Reward {
  const part = answerPart(response)?.slice(-searchedLength);
  if (part === undefined) return invalid('no_answer');
  const wanted = parseAnswer(goldAnswer(gold));
  if (part.trim().length <= bareAnswerLength && wanted !== undefined && says(wanted, part)) return scored(1);
  const given = responseAnswer(part);
  if (given === undefined) return invalid('no_answer');
  return scored(wanted !== undefined && says(wanted, given) ? 1 : 0);
}
