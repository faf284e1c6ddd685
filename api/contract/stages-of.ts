// The stages of a posted spec, whatever its type, each with its place.
import type { JobSpec } from './spec.ts';
import type { Stage } from './stage.ts';
import type { RewardModelStage } from './stages/reward-model.ts';

export interface PlacedStage {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  readonly stage: Stage | RewardModelStage;
}

export function stagesOf(spec: JobSpec): PlacedStage[] {
  switch (spec.type) {
    case 'cascade':
      return spec.stages.map((stage, index) => ({ pointer: `/stages/${index}`, stage }));
    case 'evaluate':
      return [];
    default:
      return [{ pointer: '/stage', stage: spec.stage }];
  }
}
