// DAPO's dynamic sampling (arXiv 2503.14476, section 3.2): tasks are sampled until every group of the batch has mixed outcomes.
// Groups are taken in the order of their prompts, never in the order in which they were done. Pure arithmetic.
import { groupAdvantage, MIN_STD } from './advantage.ts';
import type { GradedGroup } from './group.ts';

/** Do its graded rewards, before every penalty, differ? One with fewer than two scored rollouts is not accepted. */
export function isAccepted({ rollouts_G }: Pick<GradedGroup, 'rollouts_G'>): boolean {
  const { std } = groupAdvantage(rollouts_G.map(({ reward }) => reward));
  return std !== null && std >= MIN_STD;
}

/** Of a batch that could not be filled: without the last groups of the mode that has more, so that halves stay exact. */
export function trimmed(groups: readonly GradedGroup[]): GradedGroup[] {
  const seen = new Map<string, number>();
  return groups.filter(({ source, mode }) => {
    if (source.mode !== 'half_half') return true;
    const of = (one: string) =>
      groups.filter((group) => group.source === source && group.mode === one).length;
    const key = `${source.domain}/${mode}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count <= Math.min(of('thinking'), of('non_thinking'));
  });
}
