// A group on its way through a step: the rollouts of one task in one mode, from one source.
import type { Task } from '../../../api/contract/task.ts';
import type { ThinkingMode } from '../../engine/tokenizer/thinking.ts';
import type { Graded } from '../graded.ts';
import type { Source } from './source.ts';

export interface GradedGroup {
  readonly source: Source;
  /** Row of the source's dataset. */
  readonly task: number;
  readonly mode: ThinkingMode | undefined;
  readonly rollouts_G: readonly Graded[];
}

export const rowOf = ({ source, task }: Pick<GradedGroup, 'source' | 'task'>): Task => source.rows[task]!;
