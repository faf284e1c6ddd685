// What a whole spec needs, for a model of known sizes.
import type { ModelSizes } from '../model-shape.ts';
import { charactersVocabSize, sizesOfShape } from '../model-shape.ts';
import type { Accelerator } from '../names.ts';
import type { JobSpec } from '../spec.ts';
import { lengthsOf } from './lengths.ts';
import type { MemoryNeed } from './need.ts';
import { memoryNeed } from './need.ts';

/** The spec's own accelerator, unless another is asked about. */
export const specNeed = (
  spec: JobSpec,
  sizes: ModelSizes,
  accelerator: Accelerator = spec.resources.accelerator,
): MemoryNeed => memoryNeed(sizes, spec.model.tuning, accelerator, lengthsOf(spec, sizes.maxPositions));

/** Sizes where the spec alone says them: random weights with a tokenizer whose words it counts. */
export function ownSizes({ model: { init } }: JobSpec): ModelSizes | undefined {
  if (init.from !== 'config' || !('type' in init.tokenizer)) return undefined;
  return sizesOfShape(init.config, charactersVocabSize(init.tokenizer.alphabet));
}
