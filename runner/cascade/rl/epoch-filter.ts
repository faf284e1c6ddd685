// The epoch-based dynamic filter (Nemotron-Cascade, section 4.5): a task whose rollouts were all right or all wrong when it was last
// visited stays out of the epochs that follow; each epoch re-admits a few by draws of its own. Pure arithmetic; the paper leaves
// open, and is decided here:
//  1. right is what reaches the most that the task can give, wrong is 0 or less, before every penalty;
//  2. unscored rollouts say nothing; with fewer than two scored ones the visit changes nothing;
//  3. what an epoch lists is settled by the standings known when it begins; a task of the batch that crosses its beginning is
//     listed by what was known before that batch;
//  4. a task that was re-admitted goes by its new visit: mixed outcomes bring it back for good.
import type { DynamicFilter } from '../../../api/contract/stages/filter.ts';

export type EpochFilter = Extract<DynamicFilter, { type: 'epoch' }>;

/** What is known of a task: nothing that keeps it out, all right, all wrong. */
export type Standing = 'open' | 'right' | 'wrong';

/** From the graded values of one group, null: unscored; undefined: the visit changes nothing. */
export function standingOf(values_G: readonly (number | null)[], maxScore: number): Standing | undefined {
  const scored = values_G.filter((value) => value !== null);
  if (scored.length < 2) return undefined;
  if (scored.every((value) => value >= maxScore)) return 'right';
  return scored.every((value) => value <= 0) ? 'wrong' : 'open';
}

/** Is a task listed in an epoch, given its draw in (0, 1)? */
export function isListed(standing: Standing, draw: number, filter: EpochFilter): boolean {
  if (standing === 'open') return true;
  return draw < (standing === 'wrong' ? filter.readmit_hard : filter.readmit_easy);
}
