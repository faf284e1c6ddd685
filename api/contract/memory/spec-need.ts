// What a whole spec needs, for a model of known sizes: the model, and what is frozen beside it.
import { rewardModelReferences } from '../expand.ts';
import type { ModelSizes } from '../model-shape.ts';
import { charactersVocabSize, sizesOfShape } from '../model-shape.ts';
import type { Accelerator } from '../names.ts';
import type { JobSpec } from '../spec.ts';
import { isDistilled } from '../stage-kinds.ts';
import { stagesOf } from '../stages-of.ts';
import { isOutside, teacherKey, teacherReferences } from '../teachers.ts';
import { lengthsOf } from './lengths.ts';
import type { MemoryLine, MemoryNeed } from './need.ts';
import { asBuilt, memoryNeed } from './need.ts';
import { parameterCount } from './parameters.ts';

export interface SpecNeedOptions {
  /** Default: the spec's own. */
  readonly accelerator?: Accelerator;
  /** Those whose sizes are known, by checkpoint. */
  readonly rewardModels?: ReadonlyMap<string, ModelSizes>;
  /** Those from outside whose sizes are known, by `teacherKey`. */
  readonly teachers?: ReadonlyMap<string, ModelSizes>;
}

export function specNeed(
  spec: JobSpec,
  sizes: ModelSizes,
  {
    accelerator = spec.resources.accelerator,
    rewardModels = new Map(),
    teachers = new Map(),
  }: SpecNeedOptions = {},
): MemoryNeed {
  const trained = spec.type === 'reward_model' ? { ...sizes, scalarHead: true } : sizes;
  const lengths = lengthsOf(spec, sizes.maxPositions);
  const beside = [
    ...stageLines(referenceLines(spec, sizes), teacherLines(spec, sizes, teachers)),
    ...rewardModelLines(spec, rewardModels),
  ];
  return memoryNeed(trained, spec.model.tuning, accelerator, lengths, asBuilt, beside);
}

/** A stage has a reference or teachers, and stages run one after the other: the larger takes the place of the smaller. */
function stageLines(reference: readonly MemoryLine[], teachers: readonly MemoryLine[]): MemoryLine[] {
  const place = Math.max(0, ...reference.map(({ bytes }) => bytes));
  return [
    ...reference,
    ...teachers.map((line) =>
      place === 0
        ? line
        : {
            ...line,
            bytes: Math.max(0, line.bytes - place),
            what: `${line.what}; less the reference, which it is never held beside`,
          },
    ),
  ];
}

/** One at a time, at the least, and the largest in its turn. */
function teacherLines(
  spec: JobSpec,
  sizes: ModelSizes,
  known: ReadonlyMap<string, ModelSizes>,
): MemoryLine[] {
  const stages = stagesOf(spec).flatMap(({ stage }) => (isDistilled(stage) ? [stage] : []));
  if (stages.length === 0) return [];
  const keys = teacherReferences(spec).map(({ teacher, domain }) => teacherKey(teacher, domain));
  const hasOwn = stages.some(({ domains }) => domains?.some(({ teacher }) => !isOutside(teacher)) ?? true);
  const counted = [...(hasOwn ? [sizes] : []), ...keys.flatMap((key) => known.get(key) ?? [])];
  const largest = Math.max(0, ...counted.map(parameterCount));
  const unknown = [...new Set(keys.filter((key) => !known.has(key)))];
  const what = [
    ...(counted.length === 0 ? [] : [`${largest} frozen parameters of the largest teacher, F32`]),
    ...(unknown.length === 0 ? [] : [`not counted, its size is not known: ${unknown.join(', ')}`]),
  ];
  return [{ name: 'teachers', bytes: 4 * largest, what: what.join('; ') }];
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
