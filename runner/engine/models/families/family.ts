// What a family is, and the fields of `config.json` that all families share: transformers' names, and only what this
// engine computes as asked. Anything else that would change the numbers is refused by name, never ignored.

import { z } from 'zod';
import type { DecoderConfig } from '../config.ts';
import type { RopeScaling } from '../rotary-tables.ts';

/** As `model_type` in `config.json`. */
export type FamilyName = 'llama' | 'qwen2' | 'qwen3';

export interface Family {
  /** The name in `architectures`. */
  readonly architecture: string;
  readonly fields: z.ZodType<DecoderConfig>;
  /** Fields of a written `config.json` that only this family has. */
  readonly written: Readonly<Record<string, unknown>>;
}

export const count = z.int().positive();
export const absent = (what: string) => z.null({ error: `${what} is not supported` }).optional();
const disabled = (what: string) => z.literal(false, { error: `${what} is not supported` }).nullish();

const ropeTypes = z.enum(['default', 'llama3'], {
  error: ({ input }) => `RoPE of type ${JSON.stringify(input)} is not supported: "default" and "llama3" are`,
});

const factor = z.number().positive();

/** `rope_scaling`; transformers 5 writes the same, with the base, as `rope_parameters`. Older files call the type `type`. */
const ropeFields = z
  .strictObject(
    {
      rope_type: ropeTypes.nullish(),
      type: ropeTypes.nullish(),
      rope_theta: factor.nullish(),
      factor: factor.optional(),
      low_freq_factor: factor.optional(),
      high_freq_factor: factor.optional(),
      original_max_position_embeddings: count.optional(),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? `${issue.keys.join(', ')} is not supported` : undefined,
    },
  )
  .transform(({ rope_type, type, rope_theta, ...rest }, context) => ({
    theta: rope_theta ?? undefined,
    scaling: (rope_type ?? type) === 'llama3' ? llama3Scaling(rest, context) : null,
  }));

const llama3Fields = z
  .object({
    factor,
    low_freq_factor: factor,
    high_freq_factor: factor,
    original_max_position_embeddings: count,
  })
  .refine((given) => given.high_freq_factor > given.low_freq_factor, {
    error: 'high_freq_factor must be above low_freq_factor',
  });

function llama3Scaling(given: unknown, context: z.RefinementCtx): RopeScaling | null {
  const parsed = llama3Fields.safeParse(given);
  if (!parsed.success) {
    for (const { message, path } of parsed.error.issues)
      context.addIssue({ code: 'custom', message: `RoPE of type "llama3": ${message}`, path });
    return null;
  }
  return {
    factor: parsed.data.factor,
    lowFrequencyFactor: parsed.data.low_freq_factor,
    highFrequencyFactor: parsed.data.high_freq_factor,
    originalMaxPositions: parsed.data.original_max_position_embeddings,
  };
}

/** The name of the same model with a scalar head in place of its language head, as transformers has it. */
export const scalarArchitecture = (architecture: string): string =>
  architecture.replace(/ForCausalLM$/, 'ForSequenceClassification');

/** Fields of every family, `architecture` and that with a scalar head being the only ones that may be named. */
export const sharedFields = (architecture: string) =>
  z.looseObject({
    architectures: z
      .array(
        z.literal([architecture, scalarArchitecture(architecture)], {
          error: `only "${architecture}" and "${scalarArchitecture(architecture)}" are supported of this model_type`,
        }),
      )
      .nullish(),
    vocab_size: count,
    hidden_size: count,
    intermediate_size: count,
    num_hidden_layers: count,
    num_attention_heads: count,
    num_key_value_heads: count.nullish(),
    head_dim: count.nullish(),
    max_position_embeddings: count,
    rms_norm_eps: z.number().positive(),
    rope_theta: factor.nullish(),
    rope_scaling: ropeFields.nullish(),
    rope_parameters: ropeFields.nullish(),
    partial_rotary_factor: z.literal(1, { error: 'rotating a part of each head is not supported' }).nullish(),
    hidden_act: z.literal('silu', { error: 'only "silu" is supported' }),
    tie_word_embeddings: z.boolean().nullish(),
    attention_bias: disabled('attention_bias'),
    mlp_bias: disabled('mlp_bias'),
    attention_dropout: z.literal(0, { error: 'attention_dropout is not supported' }).nullish(),
    layer_types: z
      .array(z.literal('full_attention', { error: 'only layers of "full_attention" are supported' }))
      .nullish(),
    initializer_range: z.number().positive().nullish(),
    quantization_config: absent('a quantized model'),
  });

export type SharedFields = z.infer<ReturnType<typeof sharedFields>>;

/** Where a file has both, transformers reads the older. */
const ropeOf = (hf: SharedFields) => hf.rope_scaling ?? hf.rope_parameters;

/** The part of a shape that every family reads alike. Where a field may be absent this is transformers' default for Llama. */
export function sharedShape(hf: SharedFields): Omit<DecoderConfig, 'family' | 'qkvBias' | 'qkNorm'> {
  const rope = ropeOf(hf);
  return {
    vocabSize: hf.vocab_size,
    hiddenSize: hf.hidden_size,
    intermediateSize: hf.intermediate_size,
    layers: hf.num_hidden_layers,
    heads: hf.num_attention_heads,
    kvHeads: hf.num_key_value_heads ?? hf.num_attention_heads,
    headSize: hf.head_dim ?? hf.hidden_size / hf.num_attention_heads,
    maxPositions: hf.max_position_embeddings,
    rmsNormEps: hf.rms_norm_eps,
    ropeTheta: rope?.theta ?? hf.rope_theta ?? 10_000,
    ropeScaling: rope?.scaling ?? null,
    tieWordEmbeddings: hf.tie_word_embeddings ?? false,
    initializerRange: hf.initializer_range ?? 0.02,
    ...(hf.architectures?.some((name) => name.endsWith('ForSequenceClassification')) && { scalarHead: true }),
  };
}

/** Qwen's switch for its sliding windows; `sliding_window` beside it means nothing while it is off. */
export const noSlidingWindow = { use_sliding_window: disabled('use_sliding_window') };

/** Whose default base differs between versions of transformers, so that a file without one cannot be read for sure. */
export function needRopeTheta(hf: SharedFields, context: z.RefinementCtx): void {
  if ((hf.rope_theta ?? ropeOf(hf)?.theta) !== undefined) return;
  context.addIssue({ code: 'custom', message: 'must be given for this model_type', path: ['rope_theta'] });
}
