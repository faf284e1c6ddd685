// Adapters folded into the weights they adapt: W + alpha / r * B A, a plain model that needs no LoRA to run.

import type { DecoderConfig } from './config.ts';
import { blockTensorName } from './decoder-tensors.ts';
import type { LinearRole } from './decoder-tensors.ts';
import type { Weights, WeightTensor } from './initialize.ts';
import { adapterRole, adapterScale, adapterTensorName } from './lora.ts';
import type { LoraConfig } from './lora.ts';
import { adapterLayout, checkAdapters } from './parameters.ts';

/**
 * The model's tensors by HF name: adapted ones new, all others those of `base`. Sums are of float64, rounded once.
 * Throws UnfitWeights where the adapters are not those of this model and kind.
 */
export function mergeAdapters(
  config: DecoderConfig,
  lora: LoraConfig,
  base: Weights,
  adapters: Weights,
): Weights {
  checkAdapters(adapterLayout(config, lora), adapters);
  const merged = new Map(base);
  const tensor = (weights: Weights, name: string): WeightTensor => {
    const found = weights.get(name);
    if (found === undefined) throw new Error(`merging adapters: there is no tensor "${name}"`);
    return found;
  };
  const merge = (layer: number, role: LinearRole): void => {
    const name = blockTensorName(layer, role);
    const [a, b] = (['A', 'B'] as const).map((side) =>
      tensor(adapters, adapterTensorName(layer, adapterRole(role, side))),
    ) as [WeightTensor, WeightTensor];
    merged.set(name, sumOf(tensor(base, name), a, b, adapterScale(lora)));
  };
  for (let layer = 0; layer < config.layers; layer++) for (const role of lora.targets) merge(layer, role);
  return merged;
}

/** W [out,in], A [r,in], B [out,r]. */
function sumOf(weight: WeightTensor, a: WeightTensor, b: WeightTensor, scale: number): WeightTensor {
  const [out, into] = weight.shape as readonly [number, number];
  const rank = a.shape[0]!;
  const data = new Float32Array(out * into);
  const row = new Float64Array(into);
  for (let o = 0; o < out; o++) {
    row.fill(0);
    for (let r = 0; r < rank; r++) {
      const factor = scale * b.data[o * rank + r]!;
      for (let i = 0; i < into; i++) row[i]! += factor * a.data[r * into + i]!;
    }
    for (let i = 0; i < into; i++) data[o * into + i] = weight.data[o * into + i]! + row[i]!;
  }
  return { shape: weight.shape, data };
}
