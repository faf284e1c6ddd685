// A Llama's shape, from the `config.json` of a HF directory and back to one.
// Whatever this engine would compute differently from what the file asks for is refused by name, never ignored.

import { z } from 'zod';

/** D = hiddenSize, F = intermediateSize, L = layers, H = heads, KV = kvHeads, V = vocabSize. */
export interface LlamaConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly maxPositions: number;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  readonly tieWordEmbeddings: boolean;
  /** Standard deviation of randomly initialised matrices. */
  readonly initializerRange: number;
}

const count = z.int().positive();
const absent = (what: string) => z.null({ error: `${what} is not supported` }).optional();
const noBias = (what: string) =>
  z.literal(false, { error: `${what} is not supported: this engine's Llama has no biases` }).nullish();

const hfConfig = z.looseObject({
  architectures: z
    .array(z.literal('LlamaForCausalLM', { error: 'only "LlamaForCausalLM" is supported' }))
    .nullish(),
  model_type: z.literal('llama', { error: 'only "llama" is supported' }),
  vocab_size: count,
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  max_position_embeddings: count,
  rms_norm_eps: z.number().positive(),
  rope_theta: z.number().positive().nullish(),
  // transformers 5 writes the same here.
  rope_parameters: z
    .object({
      rope_theta: z.number().positive(),
      rope_type: z.literal('default', { error: 'only "default" is supported' }).nullish(),
    })
    .nullish(),
  rope_scaling: absent('scaled RoPE'),
  hidden_act: z.literal('silu', { error: 'only "silu" is supported' }),
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: noBias('attention_bias'),
  mlp_bias: noBias('mlp_bias'),
  initializer_range: z.number().positive().nullish(),
  quantization_config: absent('a quantized model'),
  sliding_window: absent('sliding-window attention'),
});

function checkHeads(config: LlamaConfig, source: string): void {
  const { heads, kvHeads, headSize } = config;
  if (heads % kvHeads !== 0)
    throw new Error(
      `${source}: num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}`,
    );
  if (!Number.isInteger(headSize) || headSize % 2 !== 0) {
    throw new Error(
      `${source}: head size ${headSize} (head_dim, or hidden_size / num_attention_heads) is not an even whole number, which RoPE needs`,
    );
  }
}

/** Typed shape of a parsed `config.json`. `source` is the file, named in every complaint. */
export function parseLlamaConfig(json: unknown, source: string): LlamaConfig {
  const parsed = hfConfig.safeParse(json);
  if (!parsed.success)
    throw new Error(
      `${source}: unsupported or malformed model configuration:\n${z.prettifyError(parsed.error)}`,
    );
  const hf = parsed.data;
  const config: LlamaConfig = {
    vocabSize: hf.vocab_size,
    hiddenSize: hf.hidden_size,
    intermediateSize: hf.intermediate_size,
    layers: hf.num_hidden_layers,
    heads: hf.num_attention_heads,
    kvHeads: hf.num_key_value_heads ?? hf.num_attention_heads,
    headSize: hf.head_dim ?? hf.hidden_size / hf.num_attention_heads,
    maxPositions: hf.max_position_embeddings,
    rmsNormEps: hf.rms_norm_eps,
    ropeTheta: hf.rope_parameters?.rope_theta ?? hf.rope_theta ?? 10_000,
    tieWordEmbeddings: hf.tie_word_embeddings ?? false,
    initializerRange: hf.initializer_range ?? 0.02,
  };
  checkHeads(config, source);
  return config;
}

/** Token ids that a `config.json` names beside the shape. */
export interface SpecialIds {
  readonly bosId?: number | undefined;
  readonly eosId?: number | undefined;
  readonly padId?: number | undefined;
}

/** Contents of a `config.json` that parseLlamaConfig, transformers and vLLM read as this model in float32. */
export function hfLlamaConfig(config: LlamaConfig, ids: SpecialIds): Record<string, unknown> {
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headSize,
    max_position_embeddings: config.maxPositions,
    rms_norm_eps: config.rmsNormEps,
    rope_theta: config.ropeTheta,
    rope_scaling: null,
    hidden_act: 'silu',
    tie_word_embeddings: config.tieWordEmbeddings,
    attention_bias: false,
    mlp_bias: false,
    initializer_range: config.initializerRange,
    bos_token_id: ids.bosId ?? null,
    eos_token_id: ids.eosId ?? null,
    pad_token_id: ids.padId ?? null,
    torch_dtype: 'float32',
  };
}
