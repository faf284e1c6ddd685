// Adapters out and in again in PEFT's layout, and merged into a plain model: bit for bit, under PEFT's names, equal in logits
// when an independent reader's tensors run in the float64 reference. What is no plain LoRA is refused by name.
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAdapter, writeAdapter } from '../../runner/checkpoint/adapter.ts';
import { writeSafetensors } from '../../runner/checkpoint/safetensors.ts';
import type { NamedArrays } from '../../runner/checkpoint/safetensors.ts';
import { writeModel } from '../../runner/checkpoint/write-model.ts';
import { linearRoles } from '../../runner/engine/models/decoder-tensors.ts';
import { moduleNameOf } from '../../runner/engine/models/lora.ts';
import type { LoraConfig } from '../../runner/engine/models/lora.ts';
import { mergeAdapters } from '../../runner/engine/models/merge-adapters.ts';
import { livelyWeights } from '../engine/learner/support.ts';
import { Float64Decoder } from '../engine/models/float64-decoder.ts';
import { largestError } from '../engine/models/largest-error.ts';
import { livelyAdapters } from '../engine/models/lively-adapters.ts';
import { tinyConfig } from '../engine/models/tiny-config.ts';
import { configOf, tinyFamilies } from '../engine/models/tiny-families.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { independentModel, independentRead } from './independent-read.ts';

let root: TempDir;
beforeAll(async () => void (root = await tempDir('adapter')));
afterAll(() => root.remove());

let count = 0;
async function newDir(): Promise<string> {
  const dir = join(root.path, `adapter-${++count}`);
  await mkdir(dir);
  return dir;
}

const lora: LoraConfig = { rank: 3, alpha: 5, targets: linearRoles };
const configFor = ({ rank, alpha, targets }: LoraConfig) => ({
  rank,
  alpha,
  targetModules: targets.map(moduleNameOf).sort(),
  base: 's3://models/tiny',
});

/** As PEFT 0.19.1 writes it. */
const written = {
  alora_invocation_tokens: null,
  alpha_pattern: {},
  arrow_config: null,
  auto_mapping: null,
  base_model_name_or_path: 'Qwen/Qwen3-0.6B',
  bias: 'none',
  corda_config: null,
  ensure_weight_tying: false,
  eva_config: null,
  exclude_modules: null,
  fan_in_fan_out: false,
  inference_mode: true,
  init_lora_weights: true,
  layer_replication: null,
  layers_pattern: null,
  layers_to_transform: null,
  loftq_config: {},
  lora_alpha: 5,
  lora_bias: false,
  lora_dropout: 0.05,
  lora_ga_config: null,
  megatron_config: null,
  megatron_core: 'megatron.core',
  modules_to_save: null,
  peft_type: 'LORA',
  peft_version: '0.19.1',
  qalora_group_size: 16,
  r: 3,
  rank_pattern: {},
  revision: null,
  target_modules: ['v_proj', 'q_proj'],
  target_parameters: null,
  task_type: 'CAUSAL_LM',
  trainable_token_indices: null,
  use_bdlora: null,
  use_dora: false,
  use_qalora: false,
  use_rslora: false,
};

describe.each(tinyFamilies)('%s', (_, hf) => {
  const config = configOf(hf);
  const base = livelyWeights(config, 5);
  const adapters = livelyAdapters(config, lora, 9);
  const ids = [3, 1, 4, 1, 5, 9, 2, 6];

  test('written and read: the same bits, under keys with PEFT’s prefix', async () => {
    const dir = await newDir();
    const listed = await writeAdapter(dir, { config: configFor(lora), tensors: adapters });
    expect(listed.map(({ name }) => name).sort()).toEqual((await readdir(dir)).sort());
    const read = await readAdapter(dir);
    expect(read.config).toEqual(configFor(lora));
    expect([...read.tensors.keys()]).toEqual([...adapters.keys()]);
    for (const [name, { shape, data }] of adapters) {
      expect(read.tensors.get(name)).toEqual({ dtype: 'float32', shape, data });
      expect(name).toMatch(
        /^base_model\.model\.model\.layers\.\d\.(self_attn|mlp)\.[a-z]+_proj\.lora_[AB]\.weight$/,
      );
    }
    const stored = await independentRead(join(dir, 'adapter_model.safetensors'));
    const inFile = { tensors: stored, scale: lora.alpha / lora.rank };
    const expected = { tensors: adapters, scale: lora.alpha / lora.rank };
    expect(new Float64Decoder(hf, base, inFile).logits(ids)).toEqual(
      new Float64Decoder(hf, base, expected).logits(ids),
    );
  });

  test('merged and exported, whole or in shards: the logits of the adapted model, a plain model’s tensors', async () => {
    const expected = new Float64Decoder(hf, base, { tensors: adapters, scale: lora.alpha / lora.rank });
    const rows = expected.logits(ids).flatMap((row) => [...row]);
    const merged = mergeAdapters(config, lora, base, adapters);
    for (const form of [{}, { shardBytes: 4000 }]) {
      const dir = await newDir();
      await writeModel(
        dir,
        { weights: merged, modelFiles: new Map([['config.json', JSON.stringify(hf)]]) },
        form,
      );
      const { tensors, index } = await independentModel(dir);
      expect([...tensors.keys()].sort()).toEqual([...base.keys()].sort());
      expect(tensors.has('lm_head.weight')).toBe(!hf.tie_word_embeddings);
      if (index) expect(Object.keys(index.weight_map).sort()).toEqual([...tensors.keys()].sort());
      const logits = new Float64Decoder(hf, tensors).logits(ids).flatMap((row) => [...row]);
      expect(largestError(logits, rows)).toBeLessThan(1e-5);
      const ofBase = new Float64Decoder(hf, base).logits(ids).flatMap((row) => [...row]);
      expect(largestError(ofBase, rows)).toBeGreaterThan(1e-2);
    }
  });
});

async function dirWith(config: object, tensors: NamedArrays): Promise<string> {
  const dir = await newDir();
  await writeFile(join(dir, 'adapter_config.json'), JSON.stringify(config));
  await writeSafetensors(join(dir, 'adapter_model.safetensors'), tensors);
  return dir;
}

const some = livelyAdapters(tinyConfig, { ...lora, targets: ['q', 'v'] }, 2);

test('what PEFT 0.19.1 writes is read, and what we write says as much where it matters', async () => {
  const read = await readAdapter(await dirWith(written, some));
  const config = { rank: 3, alpha: 5, targetModules: ['q_proj', 'v_proj'], base: 'Qwen/Qwen3-0.6B' };
  expect(read.config).toEqual(config);
  const dir = await newDir();
  await writeAdapter(dir, { config, tensors: some });
  const ours = JSON.parse(await readFile(join(dir, 'adapter_config.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const theirs = { ...written, target_modules: ['q_proj', 'v_proj'], lora_dropout: 0 };
  expect(theirs).toMatchObject(ours);
});

describe('refused, by name', () => {
  test.each([
    ['another PEFT type', { peft_type: 'IA3' }, /peft_type|PEFT type "IA3" is not supported/],
    ['another task', { task_type: 'SEQ_CLS' }, /task type "SEQ_CLS" is not supported/],
    ['DoRA', { use_dora: true }, /DoRA is not supported/],
    ['rsLoRA', { use_rslora: true }, /rsLoRA\) is not supported/],
    ['biases', { bias: 'lora_only' }, /trained biases are not supported/],
    ['a bias of the adapter', { lora_bias: true }, /lora_bias/],
    ['ranks by layer', { rank_pattern: { q_proj: 4 } }, /rank_pattern/],
    ['alphas by layer', { alpha_pattern: { q_proj: 4 } }, /alpha_pattern/],
    ['some layers only', { layers_to_transform: [0] }, /layers_to_transform/],
    ['whole modules', { modules_to_save: ['lm_head'] }, /modules_to_save/],
    ['transposed weights', { fan_in_fan_out: true }, /fan_in_fan_out/],
    ['a changed base', { init_lora_weights: 'pissa' }, /init_lora_weights/],
    ['what nobody knows yet', { use_hyperlora: { depth: 2 } }, /use_hyperlora/],
    ['a pattern of layers', { target_modules: '.*proj' }, /must be a list of layer names/],
  ])('%s', async (_, changed, message) => {
    const dir = await dirWith({ ...written, ...changed }, some);
    await expect(readAdapter(dir)).rejects.toThrow(message);
    await expect(readAdapter(dir)).rejects.toThrow('adapter_config.json');
  });

  const renamed = (rename: (name: string) => string): NamedArrays =>
    new Map([...some].map(([name, tensor]) => [rename(name), tensor]));

  test.each([
    [
      'keys without the prefix',
      renamed((name) => name.replace('base_model.model.', '')),
      /"model\.layers\.0.+ is no LoRA weight/,
    ],
    [
      'other tensors',
      new Map([...some, ['lm_head.weight', { shape: [1], data: new Float32Array(1) }]]),
      /"lm_head.weight" is no LoRA weight/,
    ],
    [
      'a layer that is no target',
      renamed((name) => name.replace('v_proj', 'k_proj')),
      /is of k_proj, which target_modules lacks/,
    ],
    ['half an adapter', new Map([...some].slice(1)), /is there without/],
    [
      'a target without tensors',
      new Map([...some].filter(([name]) => name.includes('q_proj'))),
      /names v_proj, of which there is no tensor/,
    ],
  ])('%s', async (_, tensors, message) => {
    await expect(readAdapter(await dirWith(written, tensors))).rejects.toThrow(message);
  });

  test('another rank than the configuration’s', async () => {
    await expect(readAdapter(await dirWith({ ...written, r: 4 }, some))).rejects.toThrow(
      /its rank must be 4/,
    );
  });
});
