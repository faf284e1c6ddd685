// The stages of a posted spec, whatever its type, in the order in which they run, each with its place.
import { presets } from './presets/presets.ts';
import type { PresetName } from './presets/presets.ts';
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
      return inOrder({
        ...spec,
        stages: spec.stages.map((stage, index) => ({
          name: stage.name,
          pointer: `/stages/${index}`,
          stage,
        })),
      });
    case 'evaluate':
      return [];
    default:
      return [{ pointer: '/stage', stage: spec.stage }];
  }
}

/** As posted, unless a preset says the order. */
export function inOrder<Named extends { readonly name?: string | undefined }>({
  preset,
  stages,
}: {
  readonly preset?: PresetName | undefined;
  readonly stages: readonly Named[];
}): Named[] {
  if (preset === undefined) return [...stages];
  const names = presets[preset].stages.map(({ name }) => name);
  return stages.toSorted((a, b) => names.indexOf(a.name ?? '') - names.indexOf(b.name ?? ''));
}
