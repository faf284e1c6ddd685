// What a step of an RL stage has at hand: what the run gives all its stages, and what the stage has opened for itself.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import type { Phase } from '../../../api/contract/stages/phase.ts';
import type { Grading } from '../grading.ts';
import type { Policy } from '../policy.ts';
import type { Source } from './source.ts';
import type { TaskLines } from './task-lines.ts';
import type { Weighing } from './weigh.ts';

export interface RunOptions extends Grading {
  readonly seed: number;
  readonly samplesPerStep: number;
}

export interface StepOptions extends RunOptions, Weighing {
  readonly policy: Policy;
  readonly stage: ExpandedReinforcedStage;
  readonly sources: readonly Source[];
  readonly phases: readonly Phase[];
  /** Prompts of each source in a step. */
  readonly sharesAt: (step: number) => readonly number[];
  /** What the step takes its tasks from. */
  readonly lines: TaskLines;
}
