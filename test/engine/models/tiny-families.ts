// A tiny `config.json` of each family, as its publisher writes it: field for field, only smaller.
import { parseModelConfig } from '../../../runner/engine/models/config.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import type { HfConfig } from './float64-decoder.ts';

const size = {
  vocab_size: 19,
  hidden_size: 32,
  intermediate_size: 44,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 64,
  hidden_act: 'silu',
  initializer_range: 0.02,
  attention_dropout: 0,
  torch_dtype: 'bfloat16',
  use_cache: true,
  bos_token_id: 1,
  eos_token_id: 2,
};

const llama = {
  ...size,
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  attention_bias: false,
  mlp_bias: false,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
};

/** Of the eight rotations of a head some lie in each of the three bands. */
const scaled = {
  rope_theta: 500_000,
  rope_scaling: {
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 512,
    rope_type: 'llama3',
  },
};

const qwen = {
  ...size,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  use_sliding_window: false,
  max_window_layers: 2,
};
const qwen2 = {
  ...qwen,
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  sliding_window: 32_768,
};
const qwen3 = {
  ...qwen,
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  attention_bias: false,
  sliding_window: null,
  rope_scaling: null,
  head_dim: 16,
};

/** By name; the reference reads the same object as the engine. */
export const tinyFamilies: readonly (readonly [string, HfConfig])[] = [
  ['Llama 2', { ...llama, rope_theta: 10_000, rope_scaling: null, tie_word_embeddings: false }],
  [
    'Llama 3, one key head',
    { ...llama, rope_theta: 500_000, num_key_value_heads: 1, tie_word_embeddings: false },
  ],
  ['Llama 3.2, scaled RoPE, tied', { ...llama, ...scaled, head_dim: 16, tie_word_embeddings: true }],
  ['Qwen2.5, tied', { ...qwen2, tie_word_embeddings: true }],
  ['Qwen2.5, untied', { ...qwen2, tie_word_embeddings: false }],
  ['Qwen3, tied', { ...qwen3, tie_word_embeddings: true }],
  ['Qwen3, untied', { ...qwen3, tie_word_embeddings: false }],
];

export const configOf = (hf: HfConfig): DecoderConfig => parseModelConfig(hf, 'config.json');
