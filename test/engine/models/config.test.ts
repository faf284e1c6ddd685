import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { hfModelConfig, parseModelConfig } from '../../../runner/engine/models/config.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';
import { tinyConfig } from './tiny-config.ts';
import { tinyFamilies } from './tiny-families.ts';

const hf = hfModelConfig(tinyConfig, { eosId: 1 });

test('what is written reads back as the same model', () => {
  expect(parseModelConfig(hf, 'config.json')).toEqual(tinyConfig);
  expect(hf['eos_token_id']).toBe(1);
  expect(hf['bos_token_id']).toBeNull();
});

test.each([
  [
    'another architecture',
    { architectures: ['Qwen3ForCausalLM'] },
    /only "LlamaForCausalLM" and "LlamaForSequenceClassification" are supported of this model_type[\s\S]*architectures/,
  ],
  [
    'another model type',
    { model_type: 'mistral' },
    /"mistral" is not supported, only "llama", "qwen2", "qwen3" are[\s\S]*model_type/,
  ],
  [
    'scaled RoPE',
    { rope_scaling: { type: 'linear', factor: 2 } },
    /RoPE of type "linear" is not supported[\s\S]*rope_scaling/,
  ],
  [
    'RoPE of another type',
    { rope_parameters: { rope_theta: 1, rope_type: 'yarn' } },
    /RoPE of type "yarn" is not supported[\s\S]*rope_type/,
  ],
  ['attention biases', { attention_bias: true }, /attention_bias is not supported/],
  ['MLP biases', { mlp_bias: true }, /mlp_bias is not supported/],
  ['another activation', { hidden_act: 'gelu' }, /only "silu" is supported/],
  ['a quantized model', { quantization_config: { bits: 4 } }, /a quantized model is not supported/],
  [
    'heads that do not divide',
    { num_key_value_heads: 3 },
    /num_attention_heads 4 is not a multiple of num_key_value_heads 3/,
  ],
  ['an odd head size', { head_dim: 7 }, /head size 7 .* not an even whole number/],
  ['a missing field', { hidden_size: undefined }, /hidden_size/],
  ['a negative size', { num_hidden_layers: -1 }, /num_hidden_layers/],
])('%s is refused, named', (_, change, message) => {
  const parse = (): unknown => parseModelConfig({ ...hf, ...change }, '/models/x/config.json');
  expect(parse).toThrow(message);
  expect(parse).toThrow(/^\/models\/x\/config\.json: /);
});

const published = (name: string): Record<string, unknown> =>
  tinyFamilies.find(([family]) => family === name)![1] as unknown as Record<string, unknown>;
const llama3 = published('Llama 3.2, scaled RoPE, tied');

test('the fields of each family', () => {
  const parsed = (name: string) => parseModelConfig(published(name), 'config.json');
  expect(parsed('Llama 3.2, scaled RoPE, tied')).toMatchObject({
    family: 'llama',
    ropeTheta: 500_000,
    ropeScaling: { factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 512 },
    tieWordEmbeddings: true,
    qkvBias: false,
    qkNorm: false,
  });
  expect(parsed('Qwen2.5, untied')).toMatchObject({
    family: 'qwen2',
    headSize: 8,
    qkvBias: true,
    qkNorm: false,
  });
  expect(parsed('Qwen3, tied')).toMatchObject({
    family: 'qwen3',
    headSize: 16,
    qkvBias: false,
    qkNorm: true,
  });
});

test('transformers 5 writes RoPE as rope_parameters', () => {
  const { rope_theta, rope_scaling, ...rest } = llama3;
  const json = { ...rest, rope_parameters: { rope_theta, ...(rope_scaling as object) } };
  expect(parseModelConfig(json, 'config.json')).toEqual(parseModelConfig(llama3, 'config.json'));
});

test.each([
  ['Qwen3, tied', { attention_bias: true }, /attention_bias is not supported/],
  ['Qwen3, tied', { head_dim: undefined }, /head_dim/],
  ['Qwen3, tied', { rope_theta: undefined }, /must be given for this model_type[\s\S]*rope_theta/],
  ['Qwen3, tied', { num_key_value_heads: undefined }, /num_key_value_heads/],
  ['Qwen3, tied', { rope_scaling: { rope_type: 'yarn', factor: 4 } }, /RoPE of type "yarn" is not supported/],
  ['Qwen3, tied', { use_sliding_window: true }, /use_sliding_window is not supported/],
  ['Qwen3, tied', { architectures: ['Qwen3MoeForCausalLM'] }, /only "Qwen3ForCausalLM" and/],
  ['Qwen2.5, tied', { use_sliding_window: true }, /use_sliding_window is not supported/],
  [
    'Qwen2.5, tied',
    { layer_types: ['full_attention', 'sliding_attention'] },
    /only layers of "full_attention"/,
  ],
  ['Qwen2.5, tied', { model_type: 'qwen2_moe' }, /"qwen2_moe" is not supported/],
  ['Llama 2', { sliding_window: 4096 }, /sliding-window attention is not supported/],
  ['Llama 2', { attention_dropout: 0.1 }, /attention_dropout is not supported/],
  ['Llama 2', { partial_rotary_factor: 0.5 }, /a part of each head is not supported/],
  [
    'Llama 2',
    { rope_scaling: { rope_type: 'llama3', factor: 8 } },
    /RoPE of type "llama3"[\s\S]*low_freq_factor/,
  ],
  [
    'Llama 3.2, scaled RoPE, tied',
    { rope_scaling: { ...(llama3['rope_scaling'] as object), attention_factor: 2 } },
    /attention_factor is not supported[\s\S]*rope_scaling/,
  ],
  [
    'Llama 3.2, scaled RoPE, tied',
    { rope_scaling: { ...(llama3['rope_scaling'] as object), high_freq_factor: 1 } },
    /high_freq_factor must be above low_freq_factor/,
  ],
])('%s with %o is refused, named', (name, change, message) => {
  expect(() => parseModelConfig({ ...published(name), ...change }, 'config.json')).toThrow(message);
});

describe.skipIf(testDataDir === undefined)(`published configurations (skipped if ${noTestData})`, () => {
  test('stories260K', async () => {
    const config = parseModelConfig(
      JSON.parse(await readFile(testData('stories260K/hf/config.json'), 'utf8')),
      'config.json',
    );
    expect(config).toMatchObject({
      heads: 8,
      kvHeads: 4,
      headSize: 8,
      tieWordEmbeddings: true,
      rmsNormEps: 1e-5,
    });
  });
  test('digit-completion', async () => {
    const config = parseModelConfig(
      JSON.parse(await readFile(testData('digit-completion/config.json'), 'utf8')),
      'config.json',
    );
    expect(config).toMatchObject({ heads: 4, kvHeads: 4, headSize: 32, tieWordEmbeddings: false, layers: 4 });
  });
});
