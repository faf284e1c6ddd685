// The model whose rollouts are drawn, and its weights as sampling's graphs name them: the very tensors that training
// updates, so that a sampler never holds an older policy than the learner.
import type { ParameterSet } from '../learner/parameter-set.ts';
import {
  blockRoles,
  blockTensorName,
  embeddingName,
  finalNormName,
  headName,
} from '../models/decoder-tensors.ts';
import type { BlockRole } from '../models/decoder-tensors.ts';
import type { DecoderConfig } from '../models/config.ts';
import { adapterRoles, adapterTensorName } from '../models/lora.ts';
import { plainForm } from '../models/model-form.ts';
import type { ModelForm } from '../models/model-form.ts';
import type { Tensor } from '../ort/runtime.ts';

/** A learner, or loaded weights where nothing is learnt. They stay the caller's. */
export interface SampledModel {
  readonly config: DecoderConfig;
  readonly weights: ParameterSet;
  /** Where the form has LoRA, which is refused without them. */
  readonly adapters?: ParameterSet | undefined;
  readonly form?: ModelForm;
}

export interface SamplerWeights {
  /** By input name. */
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** q, k, v, their biases, and gate, up are one matrix each (`qkv`, `qkv_bias`, `gate_up`): one product instead of three. */
  readonly joined: boolean;
  readonly form: ModelForm;
}

/** Joined, by input name, where the weights' memory allows it. */
const joinedRoles: Readonly<Record<string, readonly BlockRole[]>> = {
  qkv: ['q', 'k', 'v'],
  qkv_bias: ['qBias', 'kBias', 'vBias'],
  gate_up: ['gate', 'up'],
};

/** Throws where weights, adapters and form are not those of one policy: it would be sampled as another. */
export function samplerWeights({
  config,
  weights,
  adapters,
  form = plainForm,
}: SampledModel): SamplerWeights {
  const wanted = weights.layout.besideAdapters === true;
  if (wanted !== (form.lora !== undefined) || wanted !== (adapters !== undefined))
    throw new Error(
      'sampler: weights that are trained beside adapters go with these adapters and with their form, others with neither: give the whole learner',
    );
  const tensors: Record<string, Tensor> = {
    embedding: weights.tensor(embeddingName),
    final_norm: weights.tensor(finalNormName),
    head: weights.tensor(headName(config)),
  };
  let joined = true;
  for (let layer = 0; layer < config.layers; layer += 1) {
    const apart = new Set(blockRoles(config));
    for (const [input, roles] of Object.entries(joinedRoles)) {
      const tensor = apart.has(roles[0]!) ? joinedTensor(weights, layer, roles) : undefined;
      if (tensor === undefined) continue;
      tensors[`${layer}.${input}`] = tensor;
      for (const role of roles) apart.delete(role);
    }
    joined &&= !apart.has('q');
    for (const role of apart) tensors[`${layer}.${role}`] = weights.tensor(blockTensorName(layer, role));
    for (const role of form.lora ? adapterRoles(form.lora) : [])
      tensors[`${layer}.${role}`] = adapters!.tensor(adapterTensorName(layer, role));
  }
  return { tensors, joined, form };
}

function joinedTensor(weights: ParameterSet, layer: number, roles: readonly BlockRole[]): Tensor | undefined {
  const names = roles.map((role) => blockTensorName(layer, role));
  const shapes = names.map((name) => weights.layout.slots.get(name)!.shape);
  const rows = shapes.reduce((total, shape) => total + shape[0]!, 0);
  return weights.joined(names, [rows, ...shapes[0]!.slice(1)]);
}
