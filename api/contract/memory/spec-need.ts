// What a whole spec needs, for a model of known sizes: the model, and what is frozen beside it.
import { rewardModelReferences } from '../expand.ts';
import type { ModelSizes } from '../model-shape.ts';
import { charactersVocabSize, sizesOfShape } from '../model-shape.ts';
import type { Accelerator } from '../names.ts';
import type { JobSpec } from '../spec.ts';
import { stagesOf } from '../stages-of.ts';
import { lengthsOf } from './lengths.ts';
import type { MemoryLine, MemoryNeed } from './need.ts';
import { asBuilt, memoryNeed } from './need.ts';
import { parameterCount } from './parameters.ts';

export interface SpecNeedOptions {
  /** Default: the spec's own. */
  readonly accelerator?: Accelerator;
  /** Those whose sizes are known, by checkpoint. */
  readonly rewardModels?: ReadonlyMap<string, ModelSizes>;
}

export function specNeed(
  spec: JobSpec,
  sizes: ModelSizes,
  { accelerator = spec.resources.accelerator, rewardModels = new Map() }: SpecNeedOptions = {},
): MemoryNeed {
  const trained = spec.type === 'reward_model' ? { ...sizes, scalarHead: true } : sizes;
  const lengths = lengthsOf(spec, sizes.maxPositions);
  const beside = [...referenceLines(spec, sizes), ...rewardModelLines(spec, rewardModels)];
  return memoryNeed(trained, spec.model.tuning, accelerator, lengths, asBuilt, beside);
}

/** Stages run one after the other, so that there is one at a time. */
function referenceLines(spec: JobSpec, sizes: ModelSizes): MemoryLine[] {
  if (!stagesOf(spec).some(({ stage }) => 'kl' in stage && stage.kl > 0)) return [];
  const what = 'the model as a stage with kl begins, frozen, F32';
  return [{ name: 'reference', bytes: 4 * parameterCount(sizes), what }];
}

function rewardModelLines(spec: JobSpec, known: ReadonlyMap<string, ModelSizes>): MemoryLine[] {
  const ids = [...new Set(rewardModelReferences(spec).map(({ model }) => model))];
  if (ids.length === 0) return [];
  const counted = ids.flatMap((id) => known.get(id) ?? []).map(parameterCount);
  const parameters = counted.reduce((total, one) => total + one, 0);
  const unknown = ids.filter((id) => !known.has(id));
  const what = [
    ...(counted.length === 0 ? [] : [`${parameters} frozen parameters, F32`]),
    ...(unknown.length === 0 ? [] : [`not counted, its size is not known: ${unknown.join(', ')}`]),
  ];
  return [{ name: 'reward_models', bytes: 4 * parameters, what: what.join('; ') }];
}

/** Sizes where the spec alone says them: random weights with a tokenizer whose words it counts. */
export function ownSizes({ model: { init } }: JobSpec): ModelSizes | undefined {
  if (init.from !== 'config' || !('type' in init.tokenizer)) return undefined;
  return sizesOfShape(init.config, charactersVocabSize(init.tokenizer.alphabet));
}
