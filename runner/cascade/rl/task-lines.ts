// The lines of all sources of a stage: what an RL stage carries from step to step beside weights and moments. A step takes from a
// copy; only what a whole step took is kept, so that a step tried again takes the same tasks.
import { z } from 'zod';
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import { CheckpointCorrupt } from '../../checkpoint/error.ts';
import type { PromptSource } from './source.ts';
import { misfitOf, TaskLine, taskLineState } from './task-line.ts';
import type { TaskLineOptions } from './task-line.ts';

const linesState = z.strictObject({ lines: z.array(taskLineState) });

/** A single source has the order that the stage's name gives; several have one each. */
export const lineOptionsOf = (
  stage: Pick<ExpandedReinforcedStage, 'name' | 'filter'>,
  sources: readonly Pick<PromptSource, 'domain' | 'rows'>[],
  seed: number,
): TaskLineOptions[] =>
  sources.map(({ domain, rows }) => ({
    seed,
    stage: sources.length === 1 ? stage.name : `${stage.name}/${domain}`,
    rows: rows.length,
    domain,
    filter: stage.filter.type === 'epoch' ? stage.filter : undefined,
  }));

export class TaskLines {
  /** In the order of the sources. */
  readonly lines: readonly TaskLine[];

  private constructor(lines: readonly TaskLine[]) {
    this.lines = lines;
  }

  static first(options: readonly TaskLineOptions[]): TaskLines {
    return new TaskLines(options.map((one) => new TaskLine(one)));
  }

  /** From a checkpoint. Throws CheckpointCorrupt where the state is not of these lines. */
  static from(options: readonly TaskLineOptions[], state: unknown): TaskLines {
    const parsed = linesState.safeParse(state);
    if (!parsed.success) throw misfit(z.prettifyError(parsed.error));
    const { lines } = parsed.data;
    if (lines.length !== options.length)
      throw misfit(`it has ${lines.length} lines of tasks, the stage has ${options.length} sources`);
    return new TaskLines(
      options.map((one, i) => {
        const cause = misfitOf(one, lines[i]!);
        if (cause !== undefined) throw misfit(cause);
        return new TaskLine(one, lines[i]);
      }),
    );
  }

  get state(): z.infer<typeof linesState> {
    return { lines: this.lines.map(({ state }) => state) };
  }

  copy(): TaskLines {
    return new TaskLines(this.lines.map((line) => line.copy()));
  }
}

const misfit = (cause: string): CheckpointCorrupt =>
  new CheckpointCorrupt(`trainer/state.json: what the stage carried does not fit it: ${cause}`);
