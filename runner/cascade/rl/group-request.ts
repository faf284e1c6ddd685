// What a step asks for before anything is sampled: so many groups of each source in each mode, and the tasks that a round takes for
// what is still missing.
import { drawKey } from '../../engine/random/draws.ts';
import type { DrawKey } from '../../engine/random/draws.ts';
import type { GradedGroup, TaskGroup } from './group.ts';
import { shuffled } from './mode-draws.ts';
import { modesOf } from './source.ts';
import type { PromptSource, Source } from './source.ts';
import type { TaskLine } from './task-line.ts';
import type { TaskLines } from './task-lines.ts';

export type GroupRequest<Of extends PromptSource = Source> = TaskGroup<Of>;

/** Groups of one source in one mode. */
export interface Quota<Of extends PromptSource = Source> extends Pick<TaskGroup<Of>, 'source' | 'mode'> {
  readonly count: number;
}

/** `counts`: prompts of each source, even where its halves are to be equal. */
export const quotasOf = <Of extends PromptSource>(
  sources: readonly Of[],
  counts: readonly number[],
): Quota<Of>[] =>
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
export function requestsFor<Of extends PromptSource>(
  source: Of,
  line: TaskLine,
  quotas: readonly Quota<Of>[],
  draw: { readonly key: DrawKey; readonly round: number },
): GroupRequest<Of>[] {
  const own = quotas.filter((quota) => quota.source === source);
  const wanted = own.reduce((total, { count }) => total + count, 0);
  const tasks = line.take(wanted);
  const each = Math.floor(tasks.length / own.length);
  const modes = own.flatMap(({ mode, count }) =>
    new Array<GroupRequest['mode']>(tasks.length < wanted ? each : count).fill(mode),
  );
  return shuffled(modes, draw.key, draw.round).map((mode, i) => ({ source, task: tasks[i]!, mode }));
}

interface Requesting<Of extends PromptSource> {
  readonly stage: { readonly name: string };
  readonly sources: readonly Of[];
  /** Taken from. */
  readonly lines: TaskLines;
  readonly seed: number;
}

/** The next groups of every source, in the order of the sources: the batch of a step, or of a round of it. */
export const requestsOf = <Of extends PromptSource>(
  { stage, sources, lines, seed }: Requesting<Of>,
  quotas: readonly Quota<Of>[],
  { step, round }: { readonly step: number; readonly round: number },
): GroupRequest<Of>[] =>
  sources.flatMap((source, i) => {
    const key = drawKey(seed, `modes/${stage.name}/${source.domain}`, step);
    return requestsFor(source, lines.lines[i]!, quotas, { key, round });
  });
