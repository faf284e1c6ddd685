// Qwen3, dense: each head of queries and keys is normalised before RoPE, and the head size is a field of its own.
import { count, needRopeTheta, noSlidingWindow, sharedFields, sharedShape } from './family.ts';
import type { Family } from './family.ts';

const architecture = 'Qwen3ForCausalLM';

export const qwen3: Family = {
  architecture,
  fields: sharedFields(architecture)
    .extend({ ...noSlidingWindow, num_key_value_heads: count, head_dim: count })
    .superRefine(needRopeTheta)
    .transform((hf) => ({ ...sharedShape(hf), family: 'qwen3', qkvBias: false, qkNorm: true })),
  written: { attention_bias: false, use_sliding_window: false },
};
