// The shape of a decoder-only model, whatever its family: what tensors, graphs and caches are made from.
// From the `config.json` of a HF directory and back to one; the families say how.

import { z } from 'zod';
import { scalarArchitecture } from './families/family.ts';
import type { Family, FamilyName } from './families/family.ts';
import { llama } from './families/llama.ts';
import { qwen2 } from './families/qwen2.ts';
import { qwen3 } from './families/qwen3.ts';
import type { RopeScaling } from './rotary-tables.ts';

/** D = hiddenSize, F = intermediateSize, L = layers, H = heads, KV = kvHeads, hd = headSize, V = vocabSize. */
export interface DecoderConfig {
  readonly family: FamilyName;
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
  readonly ropeScaling: RopeScaling | null;
  readonly tieWordEmbeddings: boolean;
  /** Queries, keys and values have biases. */
  readonly qkvBias: boolean;
  /** Each head of queries and keys is normalised before its rotation. */
  readonly qkNorm: boolean;
  /** A reward model: one number at a sequence's last token, in place of logits. */
  readonly scalarHead?: boolean;
  /** Standard deviation of randomly initialised matrices. */
  readonly initializerRange: number;
}

const families: Readonly<Record<FamilyName, Family>> = { llama, qwen2, qwen3 };

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

const familyFields = z.looseObject({
  model_type: z.enum(Object.keys(families) as [FamilyName, ...FamilyName[]], {
    error: ({ input }) =>
      `${JSON.stringify(input)} is not supported, only ${quoted(Object.keys(families))} are`,
  }),
});

function unsupported(source: string, error: z.ZodError): Error {
  return new Error(`${source}: unsupported or malformed model configuration:\n${z.prettifyError(error)}`);
}

function checkHeads(config: DecoderConfig, source: string): void {
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

const labels = z.looseObject({
  num_labels: z.int().nullish(),
  id2label: z.record(z.string(), z.unknown()).nullish(),
});

/** transformers takes two labels where neither field is there. */
function checkOneLabel(json: unknown, source: string): void {
  const { num_labels, id2label } = labels.parse(json);
  const count = id2label ? Object.keys(id2label).length : (num_labels ?? 2);
  if (count !== 1)
    throw new Error(
      `${source}: a classifier of ${count} labels (id2label, num_labels) is not supported, only a reward model, which has one`,
    );
}

/**
 * Typed shape of a parsed `config.json`. `source` is the file, named in every complaint.
 * Throws on an architecture that is none of the families', and on whatever would be computed differently from what is asked for.
 */
export function parseModelConfig(json: unknown, source: string): DecoderConfig {
  const named = familyFields.safeParse(json);
  if (!named.success) throw unsupported(source, named.error);
  const parsed = families[named.data.model_type].fields.safeParse(json);
  if (!parsed.success) throw unsupported(source, parsed.error);
  checkHeads(parsed.data, source);
  if (parsed.data.scalarHead) checkOneLabel(json, source);
  return parsed.data;
}

/** Token ids that a `config.json` names beside the shape. */
export interface SpecialIds {
  readonly bosId?: number | undefined;
  readonly eosId?: number | undefined;
  readonly padId?: number | undefined;
}

/** Contents of a `config.json` that parseModelConfig, transformers and vLLM read as this model in float32. */
export function hfModelConfig(config: DecoderConfig, ids: SpecialIds): Record<string, unknown> {
  const { architecture, written } = families[config.family];
  return {
    architectures: [config.scalarHead ? scalarArchitecture(architecture) : architecture],
    ...(config.scalarHead && { id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } }),
    model_type: config.family,
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
    rope_scaling: config.ropeScaling && {
      rope_type: 'llama3',
      factor: config.ropeScaling.factor,
      low_freq_factor: config.ropeScaling.lowFrequencyFactor,
      high_freq_factor: config.ropeScaling.highFrequencyFactor,
      original_max_position_embeddings: config.ropeScaling.originalMaxPositions,
    },
    hidden_act: 'silu',
    tie_word_embeddings: config.tieWordEmbeddings,
    ...written,
    initializer_range: config.initializerRange,
    bos_token_id: ids.bosId ?? null,
    eos_token_id: ids.eosId ?? null,
    pad_token_id: ids.padId ?? null,
    torch_dtype: 'float32',
  };
}
