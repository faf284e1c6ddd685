// What a stage is to the cascade: a number of steps, each a function of the weights, the moments, the step's number and of what the
// stage itself carries from step to step. All of it is in a checkpoint; that is what makes resume exact.
import type { SampleLine } from '../../api/contract/results.ts';
import type { LengthPlan } from '../engine/learner/memory-plan.ts';
import type { Weights } from '../engine/models/initialize.ts';
import type { ThinkingMode } from '../engine/tokenizer/thinking.ts';

/** A kept rollout before its place in the run is known. */
export type StepSample = Omit<SampleLine, 'stage' | 'step'>;

type Metrics = Readonly<Record<string, number>>;

interface StepOutcome {
  readonly metrics: Metrics;
  /** Of a half_half step: what can be told of each half by itself. */
  readonly modes?: Readonly<Partial<Record<ThinkingMode, Metrics>>>;
  readonly samples: readonly StepSample[];
  /** How its sequences were run; none where nothing was trained. */
  readonly plan: readonly LengthPlan[];
  /** Why the stage ends with this step, before its last. */
  readonly ended?: string | undefined;
}

export type StepResult =
  | ({ readonly type: 'updated' } & StepOutcome)
  | ({ readonly type: 'skipped'; readonly cause: string } & StepOutcome);

/** What became of a step's update: `skipped` is why there was none. */
export const updatedOr = (skipped: string | undefined) =>
  skipped === undefined ? ({ type: 'updated' } as const) : ({ type: 'skipped', cause: skipped } as const);

/** What a stage leaves in a checkpoint beside weights and moments. */
export interface StageCarried {
  /** JSON; the stage alone knows its shape. */
  readonly state?: unknown;
  /** The frozen weights that the stage is held to, where it is. */
  readonly reference?: Weights | undefined;
}

export interface StageRun {
  readonly steps: number;
  /** Of the step: 0 unless the stage has phases. */
  phaseOf?(step: number): number;
  /** Before the first step in this process; `carried` is of the checkpoint within the stage that it goes on from. */
  begin?(carried: StageCarried | undefined): Promise<void>;
  /** `step` is 1 for the first. */
  step(step: number): Promise<StepResult>;
  /** After the step done last. */
  carried?(): StageCarried;
  /** Lets go of what `begin` took. */
  end?(): void;
}
