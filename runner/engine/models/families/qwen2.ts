// Qwen2 and Qwen2.5: queries, keys and values have biases (the output projection has none).
import { count, needRopeTheta, noSlidingWindow, sharedFields, sharedShape } from './family.ts';
import type { Family } from './family.ts';

const architecture = 'Qwen2ForCausalLM';

export const qwen2: Family = {
  architecture,
  fields: sharedFields(architecture)
    .extend({ ...noSlidingWindow, num_key_value_heads: count })
    .superRefine(needRopeTheta)
    .transform((hf) => ({ ...sharedShape(hf), family: 'qwen2', qkvBias: true, qkNorm: false })),
  written: { use_sliding_window: false },
};
