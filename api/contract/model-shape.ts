// Shapes of models by the field names of a Hugging Face config.json: what a spec may ask for as random weights, and the
// sizes that any config.json gives the memory arithmetic. What an engine computes from a config is the runner's business.
import { z } from 'zod';

const size = z.number().int().min(1).max(2_147_483_647);

/** `model_type` of config.json. Each is a family of the engine. */
export const modelType = z.enum(['llama', 'qwen2', 'qwen3']);
export type ModelType = z.infer<typeof modelType>;

/** Shape of a randomly initialised model. What a family needs beside the common fields is checked as the runner checks it. */
export const modelShape = z
  .strictObject({
    model_type: modelType.default('llama'),
    hidden_size: size,
    intermediate_size: size,
    num_hidden_layers: size,
    num_attention_heads: size,
    num_key_value_heads: size.optional().describe('default for llama: num_attention_heads'),
    head_dim: size.optional().describe('default for llama and qwen2: hidden_size / num_attention_heads'),
    max_position_embeddings: size.default(2048),
    rms_norm_eps: z.number().positive().default(1e-6),
    rope_theta: z.number().positive().default(10_000),
    tie_word_embeddings: z.boolean().default(false),
    initializer_range: z.number().positive().default(0.02),
  })
  .refine(
    (shape) => shape.head_dim !== undefined || shape.hidden_size % (2 * shape.num_attention_heads) === 0,
    {
      error:
        'hidden_size must be a multiple of 2 x num_attention_heads (rotary embedding pairs dimensions), or head_dim be given',
      path: ['hidden_size'],
    },
  )
  .refine((shape) => (shape.head_dim ?? 2) % 2 === 0, {
    error: 'head_dim must be even (rotary embedding pairs dimensions)',
    path: ['head_dim'],
  })
  .refine(
    (shape) => shape.num_attention_heads % (shape.num_key_value_heads ?? shape.num_attention_heads) === 0,
    {
      error: 'num_attention_heads must be a multiple of num_key_value_heads',
      path: ['num_key_value_heads'],
    },
  )
  .refine((shape) => shape.model_type === 'llama' || shape.num_key_value_heads !== undefined, {
    error: 'must be given for model_type qwen2 and qwen3',
    path: ['num_key_value_heads'],
  })
  .refine((shape) => shape.model_type !== 'qwen3' || shape.head_dim !== undefined, {
    error: 'must be given for model_type qwen3',
    path: ['head_dim'],
  });
export type ModelShape = z.infer<typeof modelShape>;

/** V, D, F, L, H, KV and hd of a decoder, its positions, and what its family adds. */
export interface ModelSizes {
  readonly modelType: ModelType;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly maxPositions: number;
  readonly tieWordEmbeddings: boolean;
  /** A reward model: one value in place of the words. */
  readonly scalarHead?: boolean;
}

/** From a parsed config.json. It says only how large the model is: the runner refuses more. */
export const modelSizes = z
  .looseObject({
    model_type: modelType,
    vocab_size: size,
    hidden_size: size,
    intermediate_size: size,
    num_hidden_layers: size,
    num_attention_heads: size,
    num_key_value_heads: size.nullish(),
    head_dim: size.nullish(),
    max_position_embeddings: size,
    tie_word_embeddings: z.boolean().nullish(),
    architectures: z.array(z.string()).nullish(),
  })
  .transform((config): ModelSizes => ({
    modelType: config.model_type,
    vocabSize: config.vocab_size,
    hiddenSize: config.hidden_size,
    intermediateSize: config.intermediate_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    kvHeads: config.num_key_value_heads ?? config.num_attention_heads,
    headSize: config.head_dim ?? config.hidden_size / config.num_attention_heads,
    maxPositions: config.max_position_embeddings,
    tieWordEmbeddings: config.tie_word_embeddings ?? false,
    ...(config.architectures?.some((name) => name.endsWith('ForSequenceClassification')) && {
      scalarHead: true,
    }),
  }));

export const sizesOfShape = (shape: ModelShape, vocabSize: number): ModelSizes =>
  modelSizes.parse({ ...shape, vocab_size: vocabSize });

/** Words of the `characters` tokenizer: its alphabet, and the tokens that separate, end, pad and stand for the unknown. */
export const charactersVocabSize = (alphabet: string): number => [...alphabet].length + 4;
