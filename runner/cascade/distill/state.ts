// What a stage of distillation carries from step to step beside weights and moments: where its tasks stand, which teachers were chosen
// when it began, and which of them have been measured.
import { z } from 'zod';
import { CheckpointCorrupt } from '../../checkpoint/error.ts';
import { TaskLines } from '../rl/task-lines.ts';
import type { TaskLineOptions } from '../rl/task-line.ts';
import { chosenTeacher } from './teachers.ts';
import type { ChosenTeacher } from './teachers.ts';

const carriedState = z.strictObject({
  tasks: z.unknown(),
  teachers: z.array(chosenTeacher),
  measured: z.array(z.string()).describe('domains whose distance from their teacher has been told'),
});

export interface DistillState {
  readonly lines: TaskLines;
  readonly teachers: readonly ChosenTeacher[];
  readonly measured: ReadonlySet<string>;
}

export const carriedOf = ({ lines, teachers, measured }: DistillState): z.infer<typeof carriedState> => ({
  tasks: lines.state,
  teachers: [...teachers],
  measured: [...measured],
});

/** From a checkpoint. Throws CheckpointCorrupt where the state is not of a stage with these domains. */
export function stateFrom(options: readonly TaskLineOptions[], state: unknown): DistillState {
  const parsed = carriedState.safeParse(state);
  if (!parsed.success) throw misfit(z.prettifyError(parsed.error));
  const { tasks, teachers, measured } = parsed.data;
  const lines = TaskLines.from(options, tasks);
  const [had, has] = [teachers, options].map((all) => all.map(({ domain }) => domain).join(', '));
  if (had !== has) throw misfit(`it has teachers of ${had}, the stage is of ${has}`);
  return { lines, teachers, measured: new Set(measured) };
}

const misfit = (cause: string): CheckpointCorrupt =>
  new CheckpointCorrupt(`trainer/state.json: what the stage carried does not fit it: ${cause}`);
