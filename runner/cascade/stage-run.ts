// What a stage is to the cascade: a number of steps, each of which is a function of the weights, the moments and the
// step's number alone. That is what makes resume exact: nothing else survives from one step to the next.
import type { SampleLine } from '../../api/contract/results.ts';

/** A kept rollout before its place in the run is known. */
export type StepSample = Omit<SampleLine, 'stage' | 'step'>;

export type StepResult =
  | {
      readonly type: 'updated';
      readonly metrics: Readonly<Record<string, number>>;
      readonly samples: readonly StepSample[];
    }
  | {
      readonly type: 'skipped';
      readonly cause: string;
      readonly metrics: Readonly<Record<string, number>>;
      readonly samples: readonly StepSample[];
    };

/** What became of a step's update: `skipped` is why there was none. */
export const updatedOr = (skipped: string | undefined) =>
  skipped === undefined ? ({ type: 'updated' } as const) : ({ type: 'skipped', cause: skipped } as const);

export interface StageRun {
  readonly steps: number;
  /** `step` is 1 for the first. */
  step(step: number): Promise<StepResult>;
}
