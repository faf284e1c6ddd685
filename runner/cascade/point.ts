// Where a run stands, and what a checkpoint says of it beyond weights and moments.
import { z } from 'zod';
import { evaluationCell } from '../../api/contract/event.ts';
import type { StageCarried } from './stage-run.ts';

/** A moment between two steps: `step` steps of stage `stageIndex` are done. */
export interface Point {
  readonly stageIndex: number;
  readonly step: number;
}

/**
 * `stage_end` and `final`: the stage has no further step, whatever its number of steps says. `final` is of the spec's last stage: where
 * that is a repair that nothing asked for, the run ends with a `stage_end`.
 */
export type PointKind = 'step' | 'stage_end' | 'final';

/** An evaluation that is over, as gates look back at it. */
export const evaluated = z.object({ after: z.string(), cells: z.array(evaluationCell) });
export type Evaluated = z.infer<typeof evaluated>;

export interface Carried {
  readonly stage: StageCarried;
  /** Of the initial model and of the ends of stages before. */
  readonly evaluations: readonly Evaluated[];
}

/** Where to go on, from a checkpoint. */
export interface Resumed extends Point {
  readonly kind: PointKind;
  readonly carried: Carried;
  /** Gates that have paused the run, and whose pause somebody has ended. */
  readonly passedGates?: readonly number[];
}

/** The run was asked to pause, and what it had learnt is kept. */
export class Paused extends Error {
  override readonly name = 'Paused';
}

/** Between two pieces of work, `where` says which. Throws Paused. */
export function heedPause(host: { pauseAsked(): boolean }, where: string): void {
  if (host.pauseAsked()) throw new Paused(`paused ${where}`);
}
