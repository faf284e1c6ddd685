// What a judge has said, read from its completion. Undefined where it did not say what it was asked for: the judge's fault,
// and never a verdict against an answer.
import { z } from 'zod';
import { answerPart } from '../answer-part.ts';

const CLOSE = '</think>';

const likely = z.object({ token: z.string(), logprob: z.number() });
const tokenLogprob = likely.extend({ top_logprobs: z.array(likely).default([]) });

/** Of OpenAI's chat completion, what is read. */
export const completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish() }),
        logprobs: z
          .object({ content: z.array(tokenLogprob).nullish() })
          .nullish()
          .catch(undefined),
      }),
    )
    .min(1),
});
export type Choice = z.infer<typeof completion>['choices'][number];
type TokenLogprob = z.infer<typeof tokenLogprob>;

/**
 * P(yes) among yes and no at the token that says either, first after the judge's thinking; without log-probabilities 1 or 0.
 */
export function probabilityOfYes({ message, logprobs }: Choice): number | undefined {
  const said = wordOf(answerPart(message.content ?? '') ?? '');
  if (said === undefined) return undefined;
  const token = verdictToken(logprobs?.content ?? []);
  return (token && shareOfYes(token)) ?? (said === 'yes' ? 1 : 0);
}

/** The first word, marks and white space aside. */
const wordOf = (text: string): 'yes' | 'no' | undefined =>
  /^[^\p{L}\p{N}]*(yes|no)(?![\p{L}\p{N}])/iu.exec(text)?.[1]?.toLowerCase() as 'yes' | 'no' | undefined;

/** A token may bring white space or a mark along. */
const isWord = (token: string, word: 'yes' | 'no'): boolean =>
  token.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase() === word;

function verdictToken(tokens: readonly TokenLogprob[]): TokenLogprob | undefined {
  // The end of thinking may be one token or several, so it is looked for in the text up to each.
  let text = '';
  const ends = tokens.map(({ token }) => (text += token).length);
  const thought = text.lastIndexOf(CLOSE);
  const begin = thought < 0 ? 0 : thought + CLOSE.length;
  return tokens.find(({ token }, at) => ends[at]! > begin && (isWord(token, 'yes') || isWord(token, 'no')));
}

function shareOfYes({ top_logprobs, ...chosen }: TokenLogprob): number | undefined {
  const all = top_logprobs.length > 0 ? top_logprobs : [chosen];
  const mass = (word: 'yes' | 'no'): number =>
    all.reduce((total, { token, logprob }) => total + (isWord(token, word) ? Math.exp(logprob) : 0), 0);
  const [yes, no] = [mass('yes'), mass('no')];
  const share = yes / (yes + no);
  return Number.isFinite(share) ? share : undefined;
}

export type Preferred = 'first' | 'second' | 'tie';

/** The last [[A]], [[B]] or [[TIE]] after the judge's thinking; a lone letter or "tie" as the whole text counts too. */
export function preferredAnswer({ message }: Choice): Preferred | undefined {
  const text = answerPart(message.content ?? '') ?? '';
  const marks = [...text.matchAll(/\[\[\s*(a|b|tie)\s*\]\]/gi)];
  const said = marks.at(-1)?.[1] ?? /^\W*(a|b|tie)\W*$/i.exec(text)?.[1];
  if (said === undefined) return undefined;
  return ({ a: 'first', b: 'second', tie: 'tie' } as const)[said.toLowerCase() as 'a' | 'b' | 'tie'];
}

export interface Comparison {
  /** Of the first and the second answer, 1 to 5. */
  readonly helpfulness: readonly [number, number];
  /** 1: the first is far better, to 6: the second is. */
  readonly ranking: number;
}

/** The last "[[A: 4, B: 3, ranking: 2]]" after the judge's thinking. */
export function comparison({ message }: Choice): Comparison | undefined {
  const text = answerPart(message.content ?? '') ?? '';
  const all = [...text.matchAll(/\[\[\s*a:\s*([1-5])\s*,\s*b:\s*([1-5])\s*,\s*ranking:\s*([1-6])\s*\]\]/gi)];
  const [, first, second, ranking] = all.at(-1) ?? [];
  return ranking === undefined
    ? undefined
    : { helpfulness: [Number(first), Number(second)], ranking: Number(ranking) };
}
