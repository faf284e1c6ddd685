// A copy of a model in training that training leaves alone: what a KL penalty compares with. Adapters are folded into the copy,
// which needs no LoRA to score; what they were is kept beside it, as they say all that a checkpoint has to hold of it.
import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import { mergeAdapters } from '../models/merge-adapters.ts';
import type { ModelForm } from '../models/model-form.ts';
import { namedViews } from '../models/parameters.ts';
import type { Runtime } from '../ort/runtime.ts';
import type { PassOptions } from './passes.ts';
import { Scorer } from './scorer.ts';

export interface Frozen {
  readonly scorer: Scorer;
  /** What is trained as it stood, by name: adapters where there are any, else the weights, which on the cpu are the scorer's own. */
  readonly trained: Weights;
}

export interface FrozenModel {
  readonly config: DecoderConfig;
  readonly form: ModelForm;
  readonly weights: Weights;
  readonly adapters: Weights | undefined;
}

export async function frozen(
  runtime: Runtime,
  { config, form: { lora, operands }, weights, adapters }: FrozenModel,
  options: PassOptions,
): Promise<Frozen> {
  const merged = lora && adapters ? mergeAdapters(config, lora, weights, adapters) : weights;
  const scorer = await Scorer.create(runtime, config, merged, { ...options, operands });
  try {
    return { scorer, trained: adapters ? copyOf(adapters) : await weightsOf(scorer) };
  } catch (error) {
    scorer[Symbol.dispose]();
    throw error;
  }
}

const copyOf = (adapters: Weights): Weights =>
  new Map([...adapters].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));

const weightsOf = async ({ weights }: Scorer): Promise<Weights> =>
  namedViews(weights.layout, await weights.read());
