// What a step asks for before anything is sampled: so many groups of each source in each mode, and the tasks that a round takes for
// what is still missing.
import type { DrawKey } from '../../engine/random/draws.ts';
import type { GradedGroup } from './group.ts';
import { shuffled } from './mode-draws.ts';
import { modesOf } from './source.ts';
import type { Source } from './source.ts';
import type { TaskLine } from './task-line.ts';

export type GroupRequest = Pick<GradedGroup, 'source' | 'task' | 'mode'>;

/** Groups of one source in one mode. */
export interface Quota extends Pick<GradedGroup, 'source' | 'mode'> {
  readonly count: number;
}

/** `counts`: prompts of each source, even where its halves are to be equal. */
export const quotasOf = (sources: readonly Source[], counts: readonly number[]): Quota[] =>
  sources.flatMap((source, i) => {
    const modes = modesOf(source);
    return modes.map((mode) => ({ source, mode, count: counts[i]! / modes.length }));
  });

/** What `groups` leave of the quotas. */
export const missingOf = (quotas: readonly Quota[], groups: readonly GradedGroup[]): Quota[] =>
  quotas.map((quota) => {
    const { source, mode, count } = quota;
    const had = groups.filter((group) => group.source === source && group.mode === mode).length;
    return { ...quota, count: count - had };
  });

/**
 * The next tasks of a source for its quotas, each in the mode drawn for it. Where the line has too few left, each of n modes gets
 * a n-th of them.
 */
export function requestsFor(
  source: Source,
  line: TaskLine,
  quotas: readonly Quota[],
  draw: { readonly key: DrawKey; readonly round: number },
): GroupRequest[] {
  const own = quotas.filter((quota) => quota.source === source);
  const wanted = own.reduce((total, { count }) => total + count, 0);
  const tasks = line.take(wanted);
  const each = Math.floor(tasks.length / own.length);
  const modes = own.flatMap(({ mode, count }) =>
    new Array<GroupRequest['mode']>(tasks.length < wanted ? each : count).fill(mode),
  );
  return shuffled(modes, draw.key, draw.round).map((mode, i) => ({ source, task: tasks[i]!, mode }));
}
