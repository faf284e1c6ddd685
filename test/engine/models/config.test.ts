import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { hfModelConfig, parseModelConfig } from '../../../runner/engine/models/config.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';
import { tinyConfig } from './tiny-config.ts';

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
    /only "LlamaForCausalLM" is supported of this model_type[\s\S]*architectures/,
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

describe.skipIf(testDataDir === undefined)(`published configurations [${noTestData}]`, () => {
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
