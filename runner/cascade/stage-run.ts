// What a stage is to the cascade: a number of steps, each of which is a function of the weights, the moments and the
// step's number alone. That is what makes resume exact: nothing else survives from one step to the next.
import type { SampleLine } from '../../api/contract/results.ts';
import type { LengthPlan } from '../engine/learner/memory-plan.ts';

/** A kept rollout before its place in the run is known. */
export type StepSample = Omit<SampleLine, 'stage' | 'step'>;

interface StepOutcome {
  readonly metrics: Readonly<Record<string, number>>;
  readonly samples: readonly StepSample[];
  /** How its sequences were run; none where nothing was trained. */
  readonly plan: readonly LengthPlan[];
}

export type StepResult =
  | ({ readonly type: 'updated' } & StepOutcome)
  | ({ readonly type: 'skipped'; readonly cause: string } & StepOutcome);

/** What became of a step's update: `skipped` is why there was none. */
export const updatedOr = (skipped: string | undefined) =>
  skipped === undefined ? ({ type: 'updated' } as const) : ({ type: 'skipped', cause: skipped } as const);

export interface StageRun {
  readonly steps: number;
  /** `step` is 1 for the first. */
  step(step: number): Promise<StepResult>;
}
