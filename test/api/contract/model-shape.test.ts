// Shapes of `init.from: config`: what the contract takes, the runner's reading of config.json takes, and the reverse.
import { describe, expect, it } from 'vitest';
import type { ModelShape } from '../../../api/contract/model-shape.ts';
import {
  charactersVocabSize,
  modelShape,
  modelSizes,
  modelType,
  sizesOfShape,
} from '../../../api/contract/model-shape.ts';
import { decoderTensors } from '../../../runner/engine/models/decoder-tensors.ts';
import { hfModelConfig, parseModelConfig } from '../../../runner/engine/models/config.ts';
import { charactersTokenizerFiles } from '../../../runner/engine/tokenizer/characters.ts';
import { Tokenizer } from '../../../runner/engine/tokenizer/tokenizer.ts';
import { loadModel } from '../../../runner/trainer/load-model.ts';

const base = { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: 4 };
const asConfig = (shape: object) => ({ hidden_act: 'silu', ...shape, vocab_size: 16 });

const variations = modelType.options.flatMap((model_type) =>
  [
    {},
    { num_key_value_heads: 2 },
    { num_key_value_heads: 3 },
    { head_dim: 8 },
    { num_key_value_heads: 2, head_dim: 16 },
    { num_key_value_heads: 2, head_dim: 7 },
    { num_key_value_heads: 4, hidden_size: 36 },
    { num_key_value_heads: 4, hidden_size: 36, head_dim: 8 },
  ].map((more) => ({ ...base, model_type, ...more })),
);

describe('a shape', () => {
  it.each(variations)('is taken by contract and runner alike: %j', (shape) => {
    const runner = (): unknown =>
      parseModelConfig(asConfig({ ...shape, ...defaults(shape.model_type) }), 'shape');
    const parsed = modelShape.safeParse(shape);
    if (parsed.success)
      expect(parseModelConfig(asConfig(parsed.data), 'shape').family).toBe(shape.model_type);
    else expect(runner).toThrow();
  });

  it('is a Llama where it names no family', () => {
    expect(modelShape.parse(base)).toMatchObject({ model_type: 'llama', rope_theta: 10_000 });
  });

  it('takes no rope_scaling', () => {
    expect(modelShape.safeParse({ ...base, rope_scaling: { rope_type: 'llama3' } }).success).toBe(false);
  });
});

/** What the contract fills in and a bare config.json would lack. */
const defaults = (model_type: string) => ({
  max_position_embeddings: 2048,
  rms_norm_eps: 1e-6,
  ...(model_type === 'llama' ? {} : { rope_theta: 10_000 }),
});

describe('random weights', () => {
  const alphabet = '0123456789+=';
  const shapes: readonly ModelShape[] = [
    modelShape.parse({ ...base, num_key_value_heads: 2, tie_word_embeddings: true }),
    modelShape.parse({ ...base, model_type: 'qwen2', num_key_value_heads: 2 }),
    modelShape.parse({ ...base, model_type: 'qwen3', num_key_value_heads: 2, head_dim: 16 }),
  ];

  it.each(shapes)('of the family that the spec names: $model_type', async (config) => {
    const init = { from: 'config', config, tokenizer: { type: 'characters', alphabet } } as const;
    const model = await loadModel(init, { datasets: {} }, 3);
    expect(model.config.family).toBe(config.model_type);
    expect([...model.weights.keys()].sort()).toEqual(
      decoderTensors(model.config)
        .map(({ name }) => name)
        .sort(),
    );
    const written = JSON.parse(model.files.get('config.json') ?? '') as { architectures: string[] };
    expect(written).toMatchObject(hfModelConfig(model.config, { eosId: 1, padId: 2 }));
    expect(written.architectures[0]?.toLowerCase()).toBe(`${config.model_type}forcausallm`);
    expect(modelSizes.parse(written)).toEqual(sizesOfShape(config, charactersVocabSize(alphabet)));
  });

  it('the characters tokenizer has as many words as the contract reckons with', () => {
    expect(new Tokenizer(charactersTokenizerFiles(alphabet)).vocabSize).toBe(charactersVocabSize(alphabet));
  });
});
