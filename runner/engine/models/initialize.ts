// Weights of a new model (`init.from: config`): normal matrices, zero biases, unit norms, as transformers initialises these families.
// Keyed by seed and tensor name, so that a tensor's values depend on nothing else.

import { createHash } from 'node:crypto';
import type { DecoderConfig } from './config.ts';
import { decoderTensors } from './decoder-tensors.ts';
import { adapterTensors } from './lora.ts';
import type { LoraConfig } from './lora.ts';
import { fillNormal } from './normal.ts';
import type { NormalKey } from './normal.ts';
import { fillUniform } from './uniform.ts';

export interface WeightTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array<ArrayBuffer>;
}

/** HF tensor names to float32 values. */
export type Weights = ReadonlyMap<string, WeightTensor>;

function keyOf(seed: number, name: string): NormalKey {
  const digest = createHash('sha256').update(`${seed}\n${name}`).digest();
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

export function initialWeights(config: DecoderConfig, seed: number): Weights {
  const weights = new Map<string, WeightTensor>();
  for (const { name, shape, kind } of decoderTensors(config)) {
    const data = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
    if (kind === 'norm') data.fill(1);
    else if (kind === 'matrix') fillNormal(data, keyOf(seed, name), config.initializerRange);
    weights.set(name, { shape, data });
  }
  return weights;
}

/**
 * Adapters as PEFT begins them, so that the model is at first what it was: B zero, A uniform as Kaiming's with a = sqrt 5,
 * which is a bound of 1 / sqrt(in).
 */
export function initialAdapters(config: DecoderConfig, lora: LoraConfig, seed: number): Weights {
  const adapters = new Map<string, WeightTensor>();
  for (const { name, shape } of adapterTensors(config, lora)) {
    const [rows, columns] = shape as readonly [number, number];
    const data = new Float32Array(rows * columns);
    if (name.endsWith('.lora_A.weight')) fillUniform(data, keyOf(seed, name), 1 / Math.sqrt(columns));
    adapters.set(name, { shape, data });
  }
  return adapters;
}
