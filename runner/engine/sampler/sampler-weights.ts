// The weights as sampling's graphs name them: views into the arena that training updates, so that a sampler never holds an
// older policy than the learner.
import { blockTensorName, embeddingName, finalNormName, headName } from '../models/decoder-tensors.ts';
import type { BlockRole } from '../models/decoder-tensors.ts';
import type { DecoderConfig } from '../models/config.ts';
import { slotView } from '../models/parameters.ts';
import type { Arena, ParameterLayout } from '../models/parameters.ts';
import type { Scope } from '../ort/scope.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';

/** The model whose rollouts are drawn: its shape, and where its weights lie. */
export interface SampledModel {
  readonly config: DecoderConfig;
  readonly layout: ParameterLayout;
  readonly weights: Arena;
}

/** Tensors by input name; `scope` owns them. */
export function samplerWeights(
  runtime: Runtime,
  scope: Scope,
  { config, layout, weights }: SampledModel,
): Record<string, Tensor> {
  const { hiddenSize: D } = config;
  const rows = (names: readonly string[]): Tensor => {
    const view = spanOf(layout, weights, names);
    return scope.own(runtime.tensor('float32', [view.length / D, D], view));
  };
  const span = (names: readonly string[]): Tensor => {
    const view = spanOf(layout, weights, names);
    return scope.own(runtime.tensor('float32', [view.length], view));
  };
  const whole = (name: string): Tensor =>
    scope.own(runtime.tensor('float32', [...layout.slots.get(name)!.shape], slotView(layout, weights, name)));
  const tensors: Record<string, Tensor> = {
    embedding: whole(embeddingName),
    final_norm: whole(finalNormName),
    head: whole(headName(config)),
  };
  for (let layer = 0; layer < config.layers; layer += 1) {
    const name = (role: BlockRole) => blockTensorName(layer, role);
    tensors[`${layer}.qkv`] = rows([name('q'), name('k'), name('v')]);
    if (config.qkvBias) tensors[`${layer}.qkv_bias`] = span([name('qBias'), name('kBias'), name('vBias')]);
    if (config.qkNorm) {
      tensors[`${layer}.q_norm`] = whole(name('qNorm'));
      tensors[`${layer}.k_norm`] = whole(name('kNorm'));
    }
    tensors[`${layer}.gate_up`] = rows([name('gate'), name('up')]);
    tensors[`${layer}.o`] = whole(name('o'));
    tensors[`${layer}.down`] = whole(name('down'));
    tensors[`${layer}.attention_norm`] = whole(name('attentionNorm'));
    tensors[`${layer}.mlp_norm`] = whole(name('mlpNorm'));
  }
  return tensors;
}

/** Neighbouring tensors as one view. */
function spanOf(layout: ParameterLayout, arena: Arena, names: readonly string[]): Arena {
  const slots = names.map((name) => layout.slots.get(name)!);
  slots.slice(1).forEach((slot, i) => {
    const before = slots[i]!;
    if (before.offset + before.size !== slot.offset)
      throw new Error(`internal: ${before.name} and ${slot.name} are not neighbours in the arena`);
  });
  const first = slots[0]!;
  const last = slots.at(-1)!;
  return arena.subarray(first.offset, last.offset + last.size);
}
