// Group-relative length control (Nemotron 3 Nano, section 3.3, Eq. 4-6; Nemotron-Cascade 2 uses the same): within a group a
// shorter response gains and a longer one loses, thinking and answer apart, and the shortest gains more where it is also
// good. Pure arithmetic on one group; what the lengths count (tokens, characters) does not matter, as only shares enter.
//
// What the papers leave open is decided as follows:
//  1. all lengths equal: w = 0 for all, so nothing is added, and nobody is the shortest;
//  2. several share the shortest length: each of them may gain, so that the order of a group means nothing;
//  3. P80 interpolates linearly between ranks, as NumPy does by default;
//  4. a response without a part (no thinking, or thinking that never ended and so no answer) is left out of that part: its
//     length there is null, it gains and loses nothing. A truncated response must not win by having no answer;
//  5. an unscored rollout (null) is left out of everything; a group with fewer than two scored rollouts is unchanged.
import { quantile } from '../quantile.ts';

/** Weight of each part, and what the shortest of good responses gains for each part. */
const WEIGHT = 0.5;
const QUALITY_QUANTILE = 0.8;

export interface PartLengths {
  readonly think: number | null;
  readonly answer: number | null;
}

/** Rewards of one group after length control; null where `rewards_G` is null. */
export function lengthControl(
  rewards_G: readonly (number | null)[],
  lengths_G: readonly PartLengths[],
): (number | null)[] {
  const scored = rewards_G.filter((reward) => reward !== null);
  if (scored.length < 2) return [...rewards_G];
  const good = quantile(scored, QUALITY_QUANTILE);
  const gains = (['think', 'answer'] as const).map((part) =>
    gainsOf(
      rewards_G,
      lengths_G.map((lengths, g) => (rewards_G[g] === null ? null : lengths[part])),
      good,
    ),
  );
  return rewards_G.map((reward, g) => (reward === null ? null : reward + gains[0]![g]! + gains[1]![g]!));
}

/** What one part adds to each reward: Eq. 4-5, and Eq. 6 for the shortest. */
function gainsOf(
  rewards_G: readonly (number | null)[],
  lengths_G: readonly (number | null)[],
  good: number,
): number[] {
  const given = lengths_G.filter((length) => length !== null);
  const [shortest, longest] = [Math.min(...given), Math.max(...given)];
  if (given.length < 2 || shortest === longest) return lengths_G.map(() => 0);
  const weight = (length: number): number => 1 - (length - shortest) / (longest - shortest);
  const mean = given.reduce((total, length) => total + weight(length), 0) / given.length;
  return lengths_G.map((length, g) => {
    if (length === null) return 0;
    const bonus = length === shortest && rewards_G[g]! >= good ? WEIGHT : 0;
    return WEIGHT * (weight(length) - mean) + bonus;
  });
}
