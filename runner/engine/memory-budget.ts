// How what a model leaves of a machine's memory is shared out: so much for the activations of a micro-batch, so much for
// the sampler's caches. A pure function of shape, form and memory, so that a resumed run on a machine of the same size cuts
// its batches as the first did. Whether the model fits at all is not decided here (api/contract/memory).
import { availableMemory } from './learner/token-budget.ts';
import type { DecoderConfig } from './models/config.ts';
import type { LoraConfig } from './models/lora.ts';
import { adapterLayout, parameterLayout } from './models/parameters.ts';
import type { ParameterLayout } from './models/parameters.ts';
import type { Provider } from './ort/runtime.ts';
import { defaultSlotLimits } from './sampler/slot-limits.ts';
import type { SlotLimits } from './sampler/slot-limits.ts';

const f32 = Float32Array.BYTES_PER_ELEMENT;
/** Weights, gradients and two moments. */
const bytesPerTrained = 4 * f32;
/** Of a device's memory: driver, libraries and fragmentation take the rest (ADR 0012). */
const usableShare = 0.9;
/** Activations have half of what is left, caches a quarter; the rest is for what neither counts. */
const cacheShare = 0.25;
const fewestActivationBytes = 1 << 28;

export interface MemoryBudgets {
  /** For the activations of a micro-batch and the head. */
  readonly activationBytes: number;
  readonly slots: SlotLimits;
}

export interface Machine {
  readonly provider: Provider;
  /** Bytes of the device, of RAM on cpu; undefined: the RAM that there is. */
  readonly memoryBytes?: number | undefined;
  /** Of whole models that lie beside the policy without being trained: the reference of a KL penalty, or teachers. */
  readonly frozenParameters?: number;
}

/** Of a policy that is trained and sampled; `lora` where adapters alone are trained. */
export function memoryBudgets(
  config: DecoderConfig,
  lora: LoraConfig | undefined,
  { frozenParameters = 0, ...machine }: Machine,
): MemoryBudgets {
  const { provider } = machine;
  const left = Math.max(0, bytesBeside(config, lora, machine) - f32 * frozenParameters);
  return {
    activationBytes: powerBelow(Math.max(fewestActivationBytes, left / 2)),
    slots: {
      ...defaultSlotLimits,
      cacheTokens: cacheTokens(config, provider, left * cacheShare),
    },
  };
}

/**
 * How many of `wanted` frozen models, `parameters` each, may lie beside a policy at a time: as many as leave activations and caches
 * half of what the policy leaves; one in any case.
 */
export function frozenAtOnce(
  config: DecoderConfig,
  lora: LoraConfig | undefined,
  machine: Machine,
  { parameters, wanted }: { readonly parameters: number; readonly wanted: number },
): number {
  const fit = Math.floor(bytesBeside(config, lora, machine) / 2 / (f32 * parameters));
  return Math.max(1, Math.min(wanted, fit));
}

/** What a policy leaves of the memory; below 0 where it does not fit. */
function bytesBeside(
  config: DecoderConfig,
  lora: LoraConfig | undefined,
  { provider, memoryBytes = availableMemory() }: Machine,
): number {
  const model = parameterLayout(config);
  const trained = lora === undefined ? model : adapterLayout(config, lora);
  const weights =
    bytesPerTrained * trained.parameterCount + (lora === undefined ? 0 : f32 * model.parameterCount);
  const usable = provider === 'cpu' ? memoryBytes : usableShare * memoryBytes - spareBytes(trained);
  return usable - weights;
}

/** On a device what changes in place does so by rotation: a spare buffer for each weight and moment of one size (ADR 0011). */
export function spareBytes({ slots }: ParameterLayout): number {
  const sizes = new Set([...slots.values()].map(({ size }) => size));
  return [...sizes].reduce((total, size) => total + 3 * f32 * size, 0);
}

/** Keys and values of one token in all layers; caches of all batch sizes together hold twice the largest on a device. */
export function cacheTokenBytes({ layers, kvHeads, headSize }: DecoderConfig, provider: Provider): number {
  return (provider === 'cpu' ? 1 : 2) * 2 * layers * kvHeads * headSize * f32;
}

/** Tokens of cache in so many bytes: a power of two, so that machines of one size agree, and never above the default. */
function cacheTokens(config: DecoderConfig, provider: Provider, bytes: number): number {
  const tokens = powerBelow(bytes / cacheTokenBytes(config, provider));
  return Math.min(defaultSlotLimits.cacheTokens, tokens);
}

const powerBelow = (x: number): number => 2 ** Math.floor(Math.log2(Math.max(1, x)));
