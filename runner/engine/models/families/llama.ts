// Llama 2, 3 and 3.x: no biases, no norm of queries and keys; 3.1 and later scale their RoPE.
import { absent, sharedFields, sharedShape } from './family.ts';
import type { Family } from './family.ts';

const architecture = 'LlamaForCausalLM';

export const llama: Family = {
  architecture,
  fields: sharedFields(architecture)
    .extend({ sliding_window: absent('sliding-window attention') })
    .transform((hf) => ({ ...sharedShape(hf), family: 'llama', qkvBias: false, qkNorm: false })),
  written: { attention_bias: false, mlp_bias: false },
};
