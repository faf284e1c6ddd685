// Names and shapes of a Llama's tensors in HF layout, in the order in which the engine stores them:
// matrices first (weight decay applies to them), norms last. q, k, v and gate, up are neighbours.

import type { LlamaConfig } from './config.ts';

export interface TensorSpec {
  readonly name: string;
  readonly shape: readonly number[];
  readonly kind: 'matrix' | 'norm';
}

export const embeddingName = 'model.embed_tokens.weight';
export const finalNormName = 'model.norm.weight';

/** The tensor that makes logits: the embedding itself where the two are tied. */
export function headName(config: LlamaConfig): string {
  return config.tieWordEmbeddings ? embeddingName : 'lm_head.weight';
}

const matrixRoles = {
  q: 'self_attn.q_proj',
  k: 'self_attn.k_proj',
  v: 'self_attn.v_proj',
  o: 'self_attn.o_proj',
  gate: 'mlp.gate_proj',
  up: 'mlp.up_proj',
  down: 'mlp.down_proj',
} as const;

const normRoles = { attentionNorm: 'input_layernorm', mlpNorm: 'post_attention_layernorm' } as const;

export type MatrixRole = keyof typeof matrixRoles;
export type NormRole = keyof typeof normRoles;
export type BlockRole = MatrixRole | NormRole;

export const blockRoles = [...Object.keys(matrixRoles), ...Object.keys(normRoles)] as readonly BlockRole[];

/** HF name of one tensor of block `layer`. */
export function blockTensorName(layer: number, role: BlockRole): string {
  return `model.layers.${layer}.${{ ...matrixRoles, ...normRoles }[role]}.weight`;
}

/** Shape of a block's tensor; matrices are [out, in] as HF stores them. */
export function blockTensorShape(config: LlamaConfig, role: BlockRole): readonly number[] {
  const { hiddenSize: D, intermediateSize: F, heads, kvHeads, headSize } = config;
  const shapes: Record<BlockRole, readonly number[]> = {
    q: [heads * headSize, D],
    k: [kvHeads * headSize, D],
    v: [kvHeads * headSize, D],
    o: [D, heads * headSize],
    gate: [F, D],
    up: [F, D],
    down: [D, F],
    attentionNorm: [D],
    mlpNorm: [D],
  };
  return shapes[role];
}

/** Every tensor that a checkpoint of this shape holds. */
export function llamaTensors(config: LlamaConfig): TensorSpec[] {
  const { vocabSize: V, hiddenSize: D } = config;
  const layers = Array.from({ length: config.layers }, (_, layer) => layer);
  const ofBlocks = (roles: readonly string[], kind: TensorSpec['kind']): TensorSpec[] =>
    layers.flatMap((layer) =>
      (roles as readonly BlockRole[]).map((role) => ({
        name: blockTensorName(layer, role),
        shape: blockTensorShape(config, role),
        kind,
      })),
    );
  return [
    { name: embeddingName, shape: [V, D], kind: 'matrix' },
    ...(config.tieWordEmbeddings ? [] : [{ name: headName(config), shape: [V, D], kind: 'matrix' } as const]),
    ...ofBlocks(Object.keys(matrixRoles), 'matrix'),
    ...ofBlocks(Object.keys(normRoles), 'norm'),
    { name: finalNormName, shape: [D], kind: 'norm' },
  ];
}
