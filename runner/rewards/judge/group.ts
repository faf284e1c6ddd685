// Nemotron-Cascade 2's generative judge (arXiv 2603.19220, section 4.5; its mechanics are those of Nemotron 3 Nano, section 3.3):
// answers of one group are compared with one another, and an answer is worth the mean of what it got over its matches.
import type { GraderOf } from '../../../api/contract/grader.ts';
import type { Task } from '../../../api/contract/task.ts';
import { judgedPart } from '../answer-part.ts';
import { Unreachable } from '../../../api/outgoing.ts';
import type { Reward } from '../reward.ts';
import { invalid, scored, unscored } from '../reward.ts';
import type { GroupGrading } from '../verifier.ts';
import type { AskJudge } from './ask.ts';
import { isRefusedForItsText } from './ask.ts';
import { promptText } from './material.ts';
import { groupTemplate, judgeMessages } from './prompts.ts';
import { comparison } from './verdict.ts';
import type { Comparison } from './verdict.ts';

/** Who stands first, who second. */
export type Match = readonly [first: number, second: number];

/**
 * all: every pair once, the place of the earlier one changing from pair to pair, so that none is favoured by its own. ring: every
 * answer with the next, in both orders.
 */
export function matchesOf(pairs: 'all' | 'ring', size: number): Match[] {
  const answers = Array.from({ length: size }, (_, i) => i);
  if (pairs === 'all')
    return answers.flatMap((i) =>
      answers.slice(i + 1).map((j): Match => ((i + j) % 2 === 1 ? [i, j] : [j, i])),
    );
  const next = size === 2 ? [[0, 1] as const] : answers.map((i) => [i, (i + 1) % size] as const);
  return next.flatMap(([i, j]): Match[] => [
    [i, j],
    [j, i],
  ]);
}

/** What each side of a match gets: its helpfulness, and where both are as helpful what the ranking adds (3.5: neither is better). */
export function matchScores({ helpfulness, ranking }: Comparison): readonly [Score, Score] {
  const [first, second] = helpfulness;
  const ahead = first === second ? 3.5 - ranking : 0;
  return [
    { helpfulness: first, tieBreak: ahead },
    { helpfulness: second, tieBreak: -ahead },
  ];
}

interface Score {
  readonly helpfulness: number;
  readonly tieBreak: number;
}

/** `refused`: the judge takes no match with this answer. */
type Outcome = readonly [Score, Score] | { readonly refused: readonly number[] };

/** What an answer that the judge does not take is worth: the least helpfulness. */
const leastHelpful = 1;
/** An answer of no length and no strangeness, which every judge takes. */
const canary = '0';

export function groupJudge(
  { template = groupTemplate, pairs = 'all' }: Pick<GraderOf<'judge'>, 'template' | 'pairs'>,
  ask: AskJudge,
): (task: Task, size: number) => GroupGrading {
  return (task, size) => {
    const prompt = promptText(task.prompt);
    const compare = (first: string, second: string): Promise<Comparison> =>
      ask(() => judgeMessages(template, { prompt, first, second }), comparison, { logprobs: false });
    return new Matches(matchesOf(pairs, size), size, compare);
  };
}

type Compare = (first: string, second: string) => Promise<Comparison>;

/** A match is held as soon as both of its answers are there, and again where it failed and one of them is asked about again. */
class Matches implements GroupGrading {
  readonly #matches: readonly Match[];
  readonly #compare: Compare;
  readonly #answers: readonly PromiseWithResolvers<string>[];
  readonly #held = new Map<Match, Promise<Outcome>>();

  constructor(matches: readonly Match[], size: number, compare: Compare) {
    this.#matches = matches;
    this.#compare = compare;
    this.#answers = Array.from({ length: size }, () => Promise.withResolvers<string>());
  }

  async grade(index: number, response: string): Promise<Reward> {
    this.#answers[index]!.resolve(judgedPart(response));
    const own = this.#matches.filter((match) => match.includes(index));
    const held = await Promise.allSettled(own.map((match) => this.#outcomeOf(match)));
    const failed = held.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      if (failed.reason instanceof Unreachable) return unscored('unreachable', failed.reason.message);
      throw failed.reason;
    }
    const outcomes = held.map((one) => (one as PromiseFulfilledResult<Outcome>).value);
    if (outcomes.some((outcome) => 'refused' in outcome && outcome.refused.includes(index)))
      return invalid('unparsable', leastHelpful, 'the judge takes no such answer');
    const scores = outcomes.flatMap((outcome, at) =>
      'refused' in outcome ? [] : [outcome[own[at]![0] === index ? 0 : 1]],
    );
    return meanOf(scores);
  }

  #outcomeOf(match: Match): Promise<Outcome> {
    const known = this.#held.get(match);
    if (known !== undefined) return known;
    const outcome = this.#hold(match);
    this.#held.set(match, outcome);
    outcome.catch(() => this.#held.delete(match));
    return outcome;
  }

  async #hold(match: Match): Promise<Outcome> {
    const [first, second] = await Promise.all(match.map((index) => this.#answers[index]!.promise));
    try {
      return matchScores(await this.#compare(first!, second!));
    } catch (error) {
      if (!isRefusedForItsText(error)) throw error;
      const taken = await Promise.all([this.#isTaken(first!), this.#isTaken(second!)]);
      const refused = match.filter((_, side) => !taken[side]);
      // It takes both, or nothing at all: then the fault is its own.
      if (refused.length === 0 || !(await this.#isTaken(canary))) throw error;
      return { refused };
    }
  }

  #isTaken(answer: string): Promise<boolean> {
    return this.#compare(answer, canary).then(
      () => true,
      (error: unknown) => {
        if (isRefusedForItsText(error)) return false;
        throw error;
      },
    );
  }
}

function meanOf(scores: readonly Score[]): Reward {
  if (scores.length === 0)
    return unscored(
      'unreachable',
      'the judge takes no other answer of its group: there is none to compare with',
    );
  const mean = (of: (score: Score) => number): number =>
    scores.reduce((total, score) => total + of(score), 0) / scores.length;
  const parts = {
    helpfulness: mean(({ helpfulness }) => helpfulness),
    tie_break: mean(({ tieBreak }) => tieBreak),
  };
  return scored(parts.helpfulness + parts.tie_break, parts);
}
