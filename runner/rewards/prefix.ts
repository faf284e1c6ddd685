// Dense reward for sequences: length of the common prefix of response and gold over (length of gold + 1).
// What follows the gold is not looked at, so an end token that was decoded into the text costs nothing, and the
// maximum is L / (L + 1). Lengths are in code points. White space counts: it is part of a sequence.
import type { Reward } from './reward.ts';
import { scored } from './reward.ts';

export function prefixReward(gold: string, response: string): Reward {
  const wanted = [...gold];
  const given = [...response.slice(0, gold.length)];
  const differing = wanted.findIndex((character, at) => character !== given[at]);
  const matched = differing === -1 ? wanted.length : differing;
  return scored(matched / (wanted.length + 1), { matched });
}

export function prefixMaximum(gold: string): number {
  const length = [...gold].length;
  return length / (length + 1);
}
