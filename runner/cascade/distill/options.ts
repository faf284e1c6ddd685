// What a step of distillation has at hand: what the run gives the stage, and what the stage has opened for itself.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import type { Matrix } from '../evaluation/matrix.ts';
import type { Host } from '../host.ts';
import type { Policy } from '../policy.ts';
import type { RunOptions } from '../rl/options.ts';
import type { TaskLines } from '../rl/task-lines.ts';
import type { DistilledSource } from './sources.ts';
import type { TeacherPool } from './teacher-pool.ts';
import type { ChosenTeacher } from './teachers.ts';

export interface DistillOptions extends RunOptions {
  readonly host: Pick<Host, 'teachers' | 'emit'>;
  /** By which `best` is chosen. */
  readonly matrix: Pick<Matrix, 'evaluations'>;
}

export interface DistillStepOptions extends DistillOptions {
  readonly policy: Policy;
  readonly stage: ExpandedDistillStage;
  readonly sources: readonly DistilledSource[];
  /** Prompts of each source in a step. */
  readonly sharesAt: (step: number) => readonly number[];
  /** What the step takes its tasks from. */
  readonly lines: TaskLines;
  readonly teachers: readonly ChosenTeacher[];
  readonly pool: TeacherPool;
  /** Domains whose distance from their teacher is known; the step adds to them. */
  readonly measured: Set<string>;
}
