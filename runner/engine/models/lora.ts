// Low-rank adapters (LoRA, Hu et al. 2021): which linear layers have one, and the names and shapes of the trained
// tensors. A model with adapters trains nothing else: base weights, norms, embedding and head stay as they are.
// Tensors are named as PEFT names them in `adapter_model.safetensors`.

import type { DecoderConfig } from './config.ts';
import { blockTensorName, blockTensorShape, decoderTensors, linearRoles } from './decoder-tensors.ts';
import type { BlockRole, LinearRole, TensorSpec } from './decoder-tensors.ts';

export interface LoraConfig {
  /** r: columns of B and rows of A. */
  readonly rank: number;
  /** The adapter's product is multiplied by alpha / rank. */
  readonly alpha: number;
  readonly targets: readonly LinearRole[];
}

export type AdapterRole = `${LinearRole}_lora_${'A' | 'B'}`;

export const adapterScale = ({ alpha, rank }: LoraConfig): number => alpha / rank;

const sides = ['A', 'B'] as const;
type Side = (typeof sides)[number];

export const adapterRole = (linear: LinearRole, side: Side): AdapterRole => `${linear}_lora_${side}`;

/** What adapters add to a block: A and B of each target, in the order of the block's own tensors. */
export function adapterRoles({ targets }: LoraConfig): readonly AdapterRole[] {
  return linearRoles
    .filter((role) => targets.includes(role))
    .flatMap((role) => sides.map((side) => adapterRole(role, side)));
}

const partsOf = (role: AdapterRole): [LinearRole, Side] => role.split('_lora_') as [LinearRole, Side];

/** A is [r,in], B is [out,r]. */
export function adapterShape(
  config: DecoderConfig,
  { rank }: LoraConfig,
  role: AdapterRole,
): readonly number[] {
  const [linear, side] = partsOf(role);
  const [out, into] = blockTensorShape(config, linear) as [number, number];
  return side === 'A' ? [rank, into] : [out, rank];
}

/** PEFT's name of one adapter tensor of block `layer`. */
export function adapterTensorName(layer: number, role: AdapterRole): string {
  const [linear, side] = partsOf(role);
  const base = blockTensorName(layer, linear).replace(/\.weight$/, '');
  return `base_model.model.${base}.lora_${side}.weight`;
}

const isAdapterRole = (role: string): role is AdapterRole => role.includes('_lora_');

/** Name of what block `layer` is given as `role`: HF's of its own tensors, PEFT's of its adapters'. */
export const blockInputName = (layer: number, role: BlockRole | AdapterRole): string =>
  isAdapterRole(role) ? adapterTensorName(layer, role) : blockTensorName(layer, role);

/** Every tensor that adapters of this kind have; weight decay applies to all. */
export function adapterTensors(config: DecoderConfig, lora: LoraConfig): TensorSpec[] {
  return Array.from({ length: config.layers }, (_, layer) =>
    adapterRoles(lora).map((role) => ({
      name: adapterTensorName(layer, role),
      shape: adapterShape(config, lora, role),
      kind: 'matrix' as const,
    })),
  ).flat();
}

/** The linear layer that a module's name means, the name being the last part of the layer's own (`q_proj`). */
export function linearRoleOf(moduleName: string): LinearRole {
  const role = linearRoles.find((linear) => moduleNameOf(linear) === moduleName);
  if (role === undefined)
    throw new Error(
      `"${moduleName}" is no linear layer of this model: adapters go to ${linearRoles.map(moduleNameOf).join(', ')}`,
    );
  return role;
}

/** The name by which `target_modules` means a linear layer. */
export const moduleNameOf = (role: LinearRole): string => blockTensorName(0, role).split('.').at(-2)!;

/** Throws, naming the layer, where the rank is above what a target's matrix can have. */
export function checkLora(config: DecoderConfig, { rank, targets }: LoraConfig): void {
  if (targets.length === 0) throw new Error('LoRA without target modules would train nothing');
  for (const role of targets) {
    const [out, into] = blockTensorShape(config, role) as [number, number];
    if (rank > Math.min(out, into))
      throw new Error(
        `LoRA of rank ${rank}: ${moduleNameOf(role)} is a matrix of ${out} x ${into}, whose rank is at most ${Math.min(out, into)}`,
      );
  }
}

/** Parameters that are trained: all of the model's, or with `lora` the adapters' alone. */
export function trainableParameters(config: DecoderConfig, lora?: LoraConfig): number {
  const tensors = lora === undefined ? decoderTensors(config) : adapterTensors(config, lora);
  return tensors.reduce((sum, { shape }) => sum + shape.reduce((product, dim) => product * dim, 1), 0);
}
