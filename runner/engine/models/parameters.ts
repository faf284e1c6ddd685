// Where each tensor of a model lies in one flat float32 arena. Weights, gradients and both moments are four arenas
// of the same layout, so the optimizer runs over flat chunks and knows no tensor.
// Decayed tensors come first, biases and norms last: weight decay is a boundary, not a mask.

import type { DecoderConfig } from './config.ts';
import type { Weights, WeightTensor } from './initialize.ts';
import { decoderTensors, embeddingName } from './decoder-tensors.ts';
import type { TensorSpec } from './decoder-tensors.ts';
import { adapterTensors } from './lora.ts';
import type { LoraConfig } from './lora.ts';
import { rotaryFrequencies } from './rotary-tables.ts';

export type Arena = Float32Array<ArrayBuffer>;

export interface Slot {
  readonly name: string;
  readonly shape: readonly number[];
  /** Elements from the arena's start. */
  readonly offset: number;
  readonly size: number;
}

export interface ParameterLayout {
  readonly slots: ReadonlyMap<string, Slot>;
  /** Elements of an arena, alignment gaps included. */
  readonly size: number;
  /** Elements before this one are subject to weight decay. */
  readonly decayedSize: number;
  /** Parameters, without the gaps. */
  readonly parameterCount: number;
  /** Of a base whose adapters are what is trained: without them it is not the policy. */
  readonly besideAdapters?: boolean;
}

/** 64 bytes, one cache line: where vector loads are cheapest. */
const alignment = 16;

/** Fused projections read these as one matrix with the tensor before them, so no gap may come between. */
const continuesPrevious = /\.(k_proj|v_proj|up_proj)\.(weight|bias)$/;

/** All of a model's own tensors. */
export const parameterLayout = (config: DecoderConfig): ParameterLayout => layoutOf(decoderTensors(config));

/** The tensors of a model's adapters, all of which decay. */
export const adapterLayout = (config: DecoderConfig, lora: LoraConfig): ParameterLayout =>
  layoutOf(adapterTensors(config, lora));

function layoutOf(tensors: readonly TensorSpec[]): ParameterLayout {
  const slots = new Map<string, Slot>();
  let size = 0;
  let decayedSize = 0;
  let parameterCount = 0;
  for (const { name, shape, kind } of tensors) {
    const elements = shape.reduce((product, dim) => product * dim, 1);
    if (!continuesPrevious.test(name)) size = aligned(size);
    slots.set(name, { name, shape, offset: size, size: elements });
    parameterCount += elements;
    size += elements;
    if (kind === 'matrix') decayedSize = aligned(size);
  }
  return { slots, size: aligned(size), decayedSize, parameterCount };
}

const aligned = (elements: number): number => Math.ceil(elements / alignment) * alignment;

/** Weights that are not this configuration's, or no numbers. */
export class UnfitWeights extends Error {
  override readonly name = 'UnfitWeights';
}

/** The part of an arena that is tensor `name`: a view, not a copy. */
export function slotView(layout: ParameterLayout, arena: Arena, name: string): Arena {
  const slot = layout.slots.get(name);
  if (slot === undefined)
    throw new Error(`no parameter "${name}": this model has ${[...layout.slots.keys()].join(', ')}`);
  return arena.subarray(slot.offset, slot.offset + slot.size);
}

function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((dim, i) => dim === b[i]);
}

function listed(names: readonly string[]): string {
  return names.length <= 8
    ? names.join(', ')
    : `${names.slice(0, 8).join(', ')} and ${names.length - 8} more`;
}

/** What a file may hold although it follows from the rest: a tied head, and the rotations that old Llama checkpoints store. */
function isRedundant(config: DecoderConfig, weights: Weights, name: string): boolean {
  const { data } = weights.get(name)!;
  if (config.tieWordEmbeddings && name === 'lm_head.weight') {
    const tied = weights.get(embeddingName)?.data;
    if (tied?.length === data.length && data.every((value, i) => value === tied[i])) return true;
    throw new UnfitWeights(
      `tensor "${name}" is another than "${embeddingName}", which tie_word_embeddings says that it is: set that to false, or leave the tensor out`,
    );
  }
  if (!/^model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq$/.test(name)) return false;
  const frequencies = rotaryFrequencies(config);
  // They may have been stored in 16 bits.
  const follows = (frequency: number, i: number): boolean =>
    Math.abs(data[i]! - frequency) <= frequency / 128 + 1e-7;
  if (data.length === frequencies.length && frequencies.every(follows)) return true;
  throw new UnfitWeights(
    `tensor "${name}" is not what the configuration's RoPE (rope_theta, rope_scaling) makes`,
  );
}

/** Whether a tensor that the layout lacks follows from those that it has. */
type Redundancy = (name: string) => boolean;

/** A model's weights: missing, unused and misshapen tensors, and those with a value that is not finite, are refused by name. */
export function checkWeights(config: DecoderConfig, layout: ParameterLayout, weights: Weights): void {
  checkTensors(layout, weights, (name) => isRedundant(config, weights, name));
}

/** The same of the weights of adapters. */
export const checkAdapters = (layout: ParameterLayout, adapters: Weights): void =>
  checkTensors(layout, adapters, () => false);

function checkTensors(layout: ParameterLayout, weights: Weights, redundant: Redundancy): void {
  const missing = [...layout.slots.keys()].filter((name) => !weights.has(name));
  if (missing.length > 0)
    throw new UnfitWeights(`the model's weights lack ${missing.length} tensors: ${listed(missing)}`);
  const unused = [...weights.keys()].filter((name) => !layout.slots.has(name) && !redundant(name));
  if (unused.length > 0)
    throw new UnfitWeights(
      `the model's weights hold ${unused.length} tensors that its configuration has no use for: ${listed(unused)}`,
    );
  for (const { name, shape } of layout.slots.values()) {
    const given = weights.get(name)!;
    if (!sameShape(given.shape, shape)) {
      throw new UnfitWeights(
        `tensor "${name}" has shape [${given.shape.join(', ')}], the configuration needs [${shape.join(', ')}]`,
      );
    }
    const wrong = given.data.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0)
      throw new UnfitWeights(
        `tensor "${name}" holds ${given.data[wrong]} at element ${wrong}: no finite number`,
      );
  }
}

/** An arena filled with `weights`, once they are checked. */
export function packWeights(config: DecoderConfig, layout: ParameterLayout, weights: Weights): Arena {
  checkWeights(config, layout, weights);
  return packTensors(layout, weights);
}

/** The same with tensors that have been checked. */
export function packTensors(layout: ParameterLayout, weights: Weights): Arena {
  const arena = new Float32Array(layout.size);
  for (const { name, offset } of layout.slots.values()) arena.set(weights.get(name)!.data, offset);
  return arena;
}

function namedView(layout: ParameterLayout, arena: Arena, name: string): WeightTensor {
  return { shape: layout.slots.get(name)?.shape ?? [], data: slotView(layout, arena, name) };
}

/** The tensors of an arena by HF name: views, not copies. */
export function namedViews(layout: ParameterLayout, arena: Arena): Weights {
  return new Map([...layout.slots.keys()].map((name) => [name, namedView(layout, arena, name)]));
}
