// Rule-based check of a mathematical answer: 1 where it says what the gold says, 0 where it does not or where we are not
// sure. Numbers, collections and equal texts are decided here; formulas by algebra, in threads that can be ended.
import type { MathRow } from '../../api/contract/task.ts';
import { answerPart } from './answer-part.ts';
import { anyAlgebra, isFormula, noAlgebra } from './math/algebra.ts';
import { sameAnswer } from './math/compare.ts';
import { goldAnswer, responseAnswer } from './math/extract.ts';
import { differInMoney, readPair } from './math/pair.ts';
import type { MathWorkers } from './math/workers.ts';
import type { Reward } from './reward.ts';
import { invalid, scored, unscored } from './reward.ts';
import type { Verifier } from './verifier.ts';

/** A response that is nothing but an answer may be this long. */
const bareAnswerLength = 500;
/** In a response no longer than a phrase what stands around the number is its unit. */
const phraseLength = 40;
/** An answer stands at the end; what lies before is not searched, so a long response costs no more than a short one. */
const searchedLength = 20_000;

export function mathVerifier(workers: MathWorkers): Verifier<MathRow> {
  return {
    grade: ({ answer }, response) => grade(workers, goldAnswer(answer), response),
    maxScore: () => 1,
    goldResponse: ({ answer }) => answer,
  };
}

async function grade(workers: MathWorkers, gold: string, response: string): Promise<Reward> {
  const part = answerPart(response)?.trimEnd().slice(-searchedLength);
  if (part === undefined) return invalid('no_answer', 0, 'the thinking block does not end');
  const bare = part.trim().length <= bareAnswerLength ? part : undefined;
  if (bare !== undefined && compareHere(gold, bare) === true) return scored(1);
  const given = responseAnswer(part) ?? (bare !== undefined && isBareFormula(bare) ? bare : undefined);
  if (given === undefined) return invalid('no_answer', 0, 'no answer was found in the response');
  if (bare !== undefined && bare.trim().length <= phraseLength && differInMoney(gold, bare))
    return scored(0, {}, readAs(bare));
  const known = compareHere(gold, given);
  return known === undefined ? compareThere(workers, gold, given) : scored(known ? 1 : 0, {}, readAs(given));
}

/** A formula without dollars around it and without words. */
const isBareFormula = (text: string): boolean =>
  isFormula(text.trim()) && !/\s[A-Za-z]{2}|[A-Za-z]{2}\s/.test(text.trim().replace(/\\[A-Za-z]+/g, '\\'));

const readAs = (given: string): string => `the answer was read as ${JSON.stringify(given.slice(0, 200))}`;

/** Undefined where only algebra can tell. */
function compareHere(gold: string, given: string): boolean | undefined {
  const read = readPair({ gold, given });
  if (read === undefined) return false;
  if (sameAnswer(...read, noAlgebra)) return true;
  return sameAnswer(...read, anyAlgebra) ? undefined : false;
}

async function compareThere(workers: MathWorkers, gold: string, given: string): Promise<Reward> {
  switch (await workers.compare({ gold, given })) {
    case 'equal':
      return scored(1, {}, readAs(given));
    case 'different':
      return scored(0, {}, readAs(given));
    case 'too_costly':
      return invalid('timeout', 0, `${readAs(given)}; comparing it took longer than its time limit`);
    case 'down':
      return unscored(
        'verifier_down',
        'no thread compares formulas: an easy one was not answered in time either',
      );
  }
}
