// Preference rows as pairs of token sequences, as the grader will have them scored (rewards/answer-part.ts and
// engine/tokenizer/scored-tokens.ts), and which of them are held out.
import { hash } from 'node:crypto';
import type { Entry } from '../../../api/contract/event.ts';
import type { ExpandedRewardModelStage } from '../../../api/contract/expand.ts';
import { wholeText } from '../../../api/contract/prompt-text.ts';
import type { PreferenceRow, Prompt } from '../../../api/contract/task.ts';
import { DataError } from '../../data/error.ts';
import { scoredTokens } from '../../engine/tokenizer/scored-tokens.ts';
import { judgedPart } from '../../rewards/answer-part.ts';
import type { Policy } from '../policy.ts';
import { tokensOfRow } from '../prompt.ts';

/** What is trained: a scalar head has nothing to sample from. */
export type ValuedModel = Pick<Policy, 'tokenizer' | 'learner'>;

export interface ScoredAnswer {
  /** Prompt and answer. */
  readonly tokens_T: Int32Array;
  /** Tokens of the answer with what the template writes around it. */
  readonly length: number;
}

export interface Pair {
  readonly row: number;
  readonly prompt: Prompt;
  readonly chosen: ScoredAnswer;
  readonly rejected: ScoredAnswer;
}

export interface Pairs {
  readonly trained: readonly Pair[];
  readonly heldOut: readonly Pair[];
  /** Rows whose answers are the same tokens: they prefer nothing, and are left out. */
  readonly identical: readonly number[];
}

/** All rows, in their order. Throws DataError naming the row that is too long or cannot be tokenized. */
export function preparePairs(
  model: ValuedModel,
  stage: ExpandedRewardModelStage,
  rows: readonly PreferenceRow[],
  seed: number,
): Pairs {
  const all = rows.map((row, index) => pairOf(model, stage, row, index));
  const distinct = all.filter((pair) => !isIdentical(pair));
  const identical = all.filter(isIdentical).map(({ row }) => row);
  const at = `stage ${stage.name}, dataset ${stage.data}`;
  if (distinct.length === 0)
    throw new DataError(
      `${at}: in all of its ${rows.length} rows both answers are the same: they prefer nothing`,
    );
  const held = heldOutPrompts(distinct, stage, seed);
  if (held === undefined)
    throw new DataError(
      `${at}: all pairs have one prompt, so none can be held out without its answers being trained on: give held_out 0, or pairs of other prompts`,
    );
  const isHeld = ({ prompt }: Pair): boolean => held.has(wholeText(prompt));
  return {
    trained: distinct.filter((pair) => !isHeld(pair)),
    heldOut: distinct.filter(isHeld),
    identical,
  };
}

function pairOf(
  model: ValuedModel,
  stage: ExpandedRewardModelStage,
  { prompt, chosen, rejected }: PreferenceRow,
  row: number,
): Pair {
  const at = `stage ${stage.name}, dataset ${stage.data}, row ${row}`;
  const limit = Math.min(stage.max_length, model.learner.maxLength);
  const scored = (side: string, response: string): ScoredAnswer => {
    const { ids, promptLength } = tokensOfRow(`${at}, ${side}`, () =>
      scoredTokens(model.tokenizer, prompt, judgedPart(response)),
    );
    if (ids.length === 0)
      throw new DataError(`${at}, ${side}: prompt and answer have no token to take a value at`);
    if (ids.length > limit)
      throw new DataError(
        `${at}, ${side}: ${ids.length} tokens of prompt and answer, more than the limit of ${limit} (max_length, or the model's own): leave such pairs out`,
      );
    return { tokens_T: Int32Array.from(ids), length: ids.length - promptLength };
  };
  return { row, prompt, chosen: scored('chosen', chosen), rejected: scored('rejected', rejected) };
}

const isIdentical = ({ chosen, rejected }: Pair): boolean =>
  chosen.tokens_T.length === rejected.tokens_T.length &&
  chosen.tokens_T.every((token, t) => token === rejected.tokens_T[t]);

/**
 * Whole prompts, so that no held-out prompt is trained on in another pair: in the order of a hash keyed by seed and stage, those
 * that still fit in the share; where none does, the one with the fewest pairs. Undefined where there is one prompt alone.
 */
function heldOutPrompts(
  pairs: readonly Pair[],
  { name, held_out }: ExpandedRewardModelStage,
  seed: number,
): ReadonlySet<string> | undefined {
  if (held_out === 0) return new Set();
  const pairsOf = Map.groupBy(pairs, ({ prompt }) => wholeText(prompt));
  if (pairsOf.size === 1) return undefined;
  const keyOf = (prompt: string): string => hash('sha256', JSON.stringify(['held-out', seed, name, prompt]));
  const ordered = [...pairsOf]
    .map(([prompt, own]) => ({ prompt, pairs: own.length, key: keyOf(prompt) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  let room = Math.max(1, Math.round(held_out * pairs.length));
  const held = new Set<string>();
  for (const { prompt, pairs: size } of ordered) {
    if (size > room || held.size === ordered.length - 1) continue;
    held.add(prompt);
    room -= size;
  }
  if (held.size === 0) held.add(ordered.reduce((a, b) => (b.pairs < a.pairs ? b : a)).prompt);
  return held;
}

const NAMED = 10;

/** What the rows came to. */
export function pairsEntry(
  { name }: ExpandedRewardModelStage,
  { trained, heldOut, identical }: Pairs,
): Extract<Entry, { type: 'preference_pairs' }> {
  const all = [...trained, ...heldOut];
  return {
    type: 'preference_pairs',
    stage: name,
    trained: trained.length,
    held_out: heldOut.length,
    identical: identical.length,
    identical_rows: identical.slice(0, NAMED),
    chosen_longer: all.filter(({ chosen, rejected }) => chosen.length > rejected.length).length / all.length,
  };
}
