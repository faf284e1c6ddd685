import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import { initialAdapters } from '../../../runner/engine/models/initialize.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import type { LoraConfig } from '../../../runner/engine/models/lora.ts';

/** Adapters in the middle of training: B is not zero. */
export function livelyAdapters(config: DecoderConfig, lora: LoraConfig, seed: number): Weights {
  const adapters = initialAdapters(config, lora, seed);
  for (const [name, { data }] of adapters)
    if (name.endsWith('lora_B.weight'))
      data.forEach((_, i) => (data[i] = 0.3 * Math.sin(3 * i + name.length)));
  return adapters;
}
