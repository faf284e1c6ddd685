// One number for each parameter of a model (its weights, their gradients, or a moment of those), as live tensors where
// sessions compute. On the cpu they lie in one flat arena; a device has no views, so each parameter is a tensor of its own.

import type { DecoderConfig } from '../models/config.ts';
import type { Weights } from '../models/initialize.ts';
import type { LoraConfig } from '../models/lora.ts';
import {
  adapterLayout,
  checkAdapters,
  checkWeights,
  packTensors,
  parameterLayout,
} from '../models/parameters.ts';
import type { Arena, ParameterLayout } from '../models/parameters.ts';
import { explain } from '../ort/ort-error.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { ArenaParameters } from './arena-parameters.ts';
import { DeviceParameters } from './device-parameters.ts';
import { checkTensorSizes } from './tensor-limit.ts';

/** The set owns its tensors; they are the same at every call. */
export interface ParameterSet extends Disposable {
  readonly layout: ParameterLayout;
  /** Parameter `name` in its own shape. Throws on a name that the layout has not. */
  tensor(name: string): Tensor;
  /** Neighbours of the layout as one tensor of shape `dims`; undefined where parameters lie apart. */
  joined(names: readonly string[], dims: readonly number[]): Tensor | undefined;
  /**
   * Tensors that together are all parameters from element `begin` of the layout up to `end`, for work that goes element
   * by element. Sets of one layout are cut alike.
   */
  pieces(begin: number, end: number): readonly Tensor[];
  /** All in the layout's order: on the cpu the live arena, from a device a copy. */
  read(): Promise<Arena>;
  /** Takes over the values of `arena`, which is laid out alike. */
  write(arena: Arena): Promise<void>;
  zero(): Promise<void>;
}

/** All zero. */
export function zeroParameters(runtime: Runtime, layout: ParameterLayout): ParameterSet {
  return runtime.provider === 'cpu'
    ? new ArenaParameters(runtime, layout, new Float32Array(layout.size))
    : new DeviceParameters(runtime, layout);
}

/** Copies `weights` (HF names). Throws where they do not fit the configuration, with the tensors' names. */
export async function loadParameters(
  runtime: Runtime,
  config: DecoderConfig,
  weights: Weights,
  { besideAdapters = false } = {},
): Promise<ParameterSet> {
  const layout = { ...parameterLayout(config), besideAdapters };
  checkWeights(config, layout, weights);
  return await placed(runtime, layout, weights);
}

/** The same of a model's adapters (PEFT's names). */
export async function loadAdapters(
  runtime: Runtime,
  config: DecoderConfig,
  lora: LoraConfig,
  adapters: Weights,
): Promise<ParameterSet> {
  const layout = adapterLayout(config, lora);
  checkAdapters(layout, adapters);
  return await placed(runtime, layout, adapters);
}

async function placed(runtime: Runtime, layout: ParameterLayout, weights: Weights): Promise<ParameterSet> {
  checkTensorSizes(layout, runtime.provider);
  if (runtime.provider === 'cpu') return new ArenaParameters(runtime, layout, packTensors(layout, weights));
  const parameters = new DeviceParameters(runtime, layout);
  try {
    for (const name of layout.slots.keys()) await write(parameters, name, weights);
    return parameters;
  } catch (error) {
    parameters[Symbol.dispose]();
    throw error;
  }
}

/** A device refuses a buffer beyond a size of its own when it is first used: the error names the tensor. */
async function write(parameters: ParameterSet, name: string, weights: Weights): Promise<void> {
  try {
    await parameters.tensor(name).write(weights.get(name)!.data);
  } catch (error) {
    throw explain(error, `tensor "${name}"`);
  }
}
