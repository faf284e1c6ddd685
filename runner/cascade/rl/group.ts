// A group on its way through a step: the rollouts of one task in one mode, from one source.
import type { Task } from '../../../api/contract/task.ts';
import type { ThinkingMode } from '../../engine/tokenizer/thinking.ts';
import type { Graded } from '../graded.ts';
import type { PromptSource, Source } from './source.ts';

export interface TaskGroup<Of extends PromptSource = Source> {
  readonly source: Of;
  /** Row of the source's dataset. */
  readonly task: number;
  readonly mode: ThinkingMode | undefined;
}

export interface GradedGroup extends TaskGroup {
  readonly rollouts_G: readonly Graded[];
}

export const rowOf = ({
  source,
  task,
}: {
  readonly source: Pick<PromptSource, 'rows'>;
  readonly task: number;
}): Task => source.rows[task]!;
