// The stages of a posted spec, whatever its type, each with its place.
import type { JobSpec } from './spec.ts';

type CascadeStage = Extract<JobSpec, { type: 'cascade' }>['stages'][number];

export interface PlacedStage {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  readonly stage: CascadeStage;
}

export const stagesOf = (spec: JobSpec): PlacedStage[] =>
  spec.type === 'cascade'
    ? spec.stages.map((stage, index) => ({ pointer: `/stages/${index}`, stage }))
    : [{ pointer: '/stage', stage: spec.stage }];
