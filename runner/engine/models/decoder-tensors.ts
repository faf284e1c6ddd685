// Names and shapes of a decoder's tensors in HF layout, in the order in which the engine stores them: matrices first
// (weight decay applies to them), biases and norms last. q, k, v, their biases, and gate, up are neighbours.

import type { DecoderConfig } from './config.ts';

export interface TensorSpec {
  readonly name: string;
  readonly shape: readonly number[];
  readonly kind: 'matrix' | 'bias' | 'norm';
}

export const embeddingName = 'model.embed_tokens.weight';
export const finalNormName = 'model.norm.weight';
/** [1,D], of models with a scalar head. */
export const scoreName = 'score.weight';

/** The tensor that makes logits: the embedding itself where the two are tied. */
export function headName({ tieWordEmbeddings }: Pick<DecoderConfig, 'tieWordEmbeddings'>): string {
  return tieWordEmbeddings ? embeddingName : 'lm_head.weight';
}

const matrixRoles = {
  q: 'self_attn.q_proj.weight',
  k: 'self_attn.k_proj.weight',
  v: 'self_attn.v_proj.weight',
  o: 'self_attn.o_proj.weight',
  gate: 'mlp.gate_proj.weight',
  up: 'mlp.up_proj.weight',
  down: 'mlp.down_proj.weight',
} as const;

const biasRoles = {
  qBias: 'self_attn.q_proj.bias',
  kBias: 'self_attn.k_proj.bias',
  vBias: 'self_attn.v_proj.bias',
} as const;

const normRoles = {
  attentionNorm: 'input_layernorm.weight',
  mlpNorm: 'post_attention_layernorm.weight',
} as const;

const headNormRoles = { qNorm: 'self_attn.q_norm.weight', kNorm: 'self_attn.k_norm.weight' } as const;

const allRoles = { ...matrixRoles, ...biasRoles, ...normRoles, ...headNormRoles };

/** The matrices that a block multiplies by. */
export type LinearRole = keyof typeof matrixRoles;
export const linearRoles = Object.keys(matrixRoles) as readonly LinearRole[];

/** What every block has. */
export type CommonRole = keyof typeof matrixRoles | keyof typeof normRoles;
/** What blocks of some families have. */
export type FamilyRole = keyof typeof biasRoles | keyof typeof headNormRoles;
export type BlockRole = CommonRole | FamilyRole;

const rolesOf = (roles: Partial<Record<BlockRole, string>>): readonly BlockRole[] =>
  Object.keys(roles) as BlockRole[];

const biasesOf = ({ qkvBias }: DecoderConfig): readonly BlockRole[] => (qkvBias ? rolesOf(biasRoles) : []);
const normsOf = ({ qkNorm }: DecoderConfig): readonly BlockRole[] => [
  ...rolesOf(normRoles),
  ...(qkNorm ? rolesOf(headNormRoles) : []),
];

/** What a block of this model has. */
export function blockRoles(config: DecoderConfig): readonly BlockRole[] {
  return [...rolesOf(matrixRoles), ...biasesOf(config), ...normsOf(config)];
}

/** HF name of one tensor of block `layer`. */
export function blockTensorName(layer: number, role: BlockRole): string {
  return `model.layers.${layer}.${allRoles[role]}`;
}

/** Shape of a block's tensor; matrices are [out, in] as HF stores them. */
export function blockTensorShape(config: DecoderConfig, role: BlockRole): readonly number[] {
  const { hiddenSize: D, intermediateSize: F, heads, kvHeads, headSize } = config;
  const shapes: Record<BlockRole, readonly number[]> = {
    q: [heads * headSize, D],
    k: [kvHeads * headSize, D],
    v: [kvHeads * headSize, D],
    o: [D, heads * headSize],
    gate: [F, D],
    up: [F, D],
    down: [D, F],
    qBias: [heads * headSize],
    kBias: [kvHeads * headSize],
    vBias: [kvHeads * headSize],
    attentionNorm: [D],
    mlpNorm: [D],
    qNorm: [headSize],
    kNorm: [headSize],
  };
  return shapes[role];
}

function headTensors(config: DecoderConfig): TensorSpec[] {
  const { vocabSize: V, hiddenSize: D } = config;
  if (config.scalarHead) return [{ name: scoreName, shape: [1, D], kind: 'matrix' }];
  return config.tieWordEmbeddings ? [] : [{ name: headName(config), shape: [V, D], kind: 'matrix' }];
}

/** Every tensor that a checkpoint of this shape holds. */
export function decoderTensors(config: DecoderConfig): TensorSpec[] {
  const { vocabSize: V, hiddenSize: D } = config;
  const layers = Array.from({ length: config.layers }, (_, layer) => layer);
  const ofBlocks = (roles: readonly BlockRole[], kind: TensorSpec['kind']): TensorSpec[] =>
    layers.flatMap((layer) =>
      roles.map((role) => ({
        name: blockTensorName(layer, role),
        shape: blockTensorShape(config, role),
        kind,
      })),
    );
  return [
    { name: embeddingName, shape: [V, D], kind: 'matrix' },
    ...headTensors(config),
    ...ofBlocks(rolesOf(matrixRoles), 'matrix'),
    ...ofBlocks(biasesOf(config), 'bias'),
    ...ofBlocks(normsOf(config), 'norm'),
    { name: finalNormName, shape: [D], kind: 'norm' },
  ];
}
