// The stages of a posted spec, whatever its type, in the order in which they run, each with its place.
import type { Gate } from './gate.ts';
import { presets } from './presets/presets.ts';
import type { PresetName } from './presets/presets.ts';
import type { JobSpec } from './spec.ts';
import type { Stage } from './stage.ts';
import { repair } from './stages/distill.ts';
import type { RewardModelStage } from './stages/reward-model.ts';

export interface PlacedStage {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  readonly stage: Stage | RewardModelStage;
  /** The stage that a gate repairs by this one, which runs only then. */
  readonly repairs?: string;
}

export function stagesOf(spec: JobSpec): PlacedStage[] {
  switch (spec.type) {
    case 'cascade':
      return cascadeStages(spec);
    case 'evaluate':
      return [];
    default:
      return [{ pointer: '/stage', stage: spec.stage }];
  }
}

/** What of a cascade says its stages. */
export interface CascadeStages {
  readonly preset?: PresetName | undefined;
  readonly stages: readonly Stage[];
  readonly gates: readonly Gate[];
}

/** Every stage, and behind it the one that repairs it, where a gate after it says `distill`. */
export function cascadeStages(spec: CascadeStages): PlacedStage[] {
  const stages = inOrder({
    ...spec,
    stages: spec.stages.map((stage, index) => ({ name: stage.name, pointer: `/stages/${index}`, stage })),
  });
  return stages.flatMap(({ pointer, stage }) => [
    { pointer, stage },
    ...repairsOf(spec, stage.name ?? stage.kind),
  ]);
}

/** One at most: gates after the same stage share it. */
function repairsOf({ gates }: CascadeStages, after: string): PlacedStage[] {
  const index = gates.findIndex((gate) => gate.after === after && gate.otherwise === 'distill');
  if (index < 0) return [];
  const given = gates.findIndex((gate) => gate.after === after && gate.repair !== undefined);
  const stage = given < 0 ? repair.parse({}) : gates[given]!.repair!;
  return [
    {
      pointer: `/gates/${given < 0 ? index : given}/repair`,
      stage: { kind: 'distill', ...stage, name: stage.name ?? `repair-${after}` },
      repairs: after,
    },
  ];
}

/** Those that have run before the one at `index`, whatever gates say: repairs are none. */
export const stagesBefore = (stages: readonly PlacedStage[], index: number): Stage[] =>
  stages
    .slice(0, index)
    .flatMap(({ stage, repairs }) => (stage.kind === 'reward_model' || repairs !== undefined ? [] : [stage]));

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
