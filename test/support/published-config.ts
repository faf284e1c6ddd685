// The engine's configuration of a model of which the contract knows the sizes.
import type { ModelSizes } from '../../api/contract/model-shape.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import { parseModelConfig } from '../../runner/engine/models/config.ts';

export function configOf(sizes: ModelSizes): DecoderConfig {
  const json = {
    model_type: sizes.modelType,
    vocab_size: sizes.vocabSize,
    hidden_size: sizes.hiddenSize,
    intermediate_size: sizes.intermediateSize,
    num_hidden_layers: sizes.layers,
    num_attention_heads: sizes.heads,
    num_key_value_heads: sizes.kvHeads,
    head_dim: sizes.headSize,
    max_position_embeddings: sizes.maxPositions,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    hidden_act: 'silu',
    tie_word_embeddings: sizes.tieWordEmbeddings,
  };
  return parseModelConfig(json, 'sizes');
}
