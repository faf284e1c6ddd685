// LoRA at the level of graphs and tensors: logits and every gradient of A and B against the float64 reference, first
// values as PEFT's, merged equal to applied, and what does not fit refused by name.
import { describe, expect, test } from 'vitest';
import { initialAdapters } from '../../../runner/engine/models/initialize.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import {
  adapterTensorName,
  adapterTensors,
  checkLora,
  linearRoleOf,
  trainableParameters,
} from '../../../runner/engine/models/lora.ts';
import type { LoraConfig } from '../../../runner/engine/models/lora.ts';
import { linearRoles } from '../../../runner/engine/models/decoder-tensors.ts';
import { mergeAdapters } from '../../../runner/engine/models/merge-adapters.ts';
import {
  adapterLayout,
  checkAdapters,
  packTensors,
  parameterLayout,
} from '../../../runner/engine/models/parameters.ts';
import { leakCheckedRuntime, livelyWeights } from '../learner/support.ts';
import { Float64Decoder } from './float64-decoder.ts';
import { graphPass } from './graph-pass.ts';
import { largestError } from './largest-error.ts';
import { livelyAdapters } from './lively-adapters.ts';
import { tinyConfig } from './tiny-config.ts';
import { configOf, tinyFamilies } from './tiny-families.ts';

const runtime = leakCheckedRuntime();
const temperature = 0.8;
const ids = [3, 1, 4, 1, 5, 9, 2, 6, 5, 18, 17, 3];
const weights = [0, 0, 0.4, 0.3, -0.2, 0.5, 0, 0.1, -0.7, 0.2, 0.6, -0.3];
const everywhere: LoraConfig = { rank: 3, alpha: 5, targets: linearRoles };
const some: LoraConfig = { rank: 2, alpha: 4, targets: ['down', 'q'] };

const together = (base: Weights, adapters: Weights): Weights => new Map([...base, ...adapters]);

describe.each(tinyFamilies)('%s', (_, hf) => {
  const config = configOf(hf);
  const base = livelyWeights(config, 11);

  test.each([
    ['all linear layers', everywhere],
    ['two of them', some],
  ])('%s: logits, and gradients of A and B alone, within 1e-4', async (_, lora) => {
    const adapters = livelyAdapters(config, lora, 5);
    const reference = new Float64Decoder(hf, base, { tensors: adapters, scale: lora.alpha / lora.rank });
    reference.addGradient(ids, weights, temperature);
    const expected = reference.logits(ids).flatMap((row) => [...row]);
    const unadapted = new Float64Decoder(hf, base).logits(ids).flatMap((row) => [...row]);
    expect(largestError(unadapted, expected)).toBeGreaterThan(1e-2);
    const model = { runtime, config, form: { lora }, tensors: together(base, adapters) };
    for (const recompute of [false, true]) {
      const pass = await graphPass(model, ids, weights, temperature, recompute);
      expect(largestError(pass.logits, expected)).toBeLessThan(1e-4);
      expect([...pass.gradients.keys()].sort()).toEqual([...adapters.keys()].sort());
      expect([...pass.headOutputs].sort()).toEqual(['d_x', 'entropy', 'log_probs']);
      for (const [name, gradient] of pass.gradients)
        expect(largestError(gradient, reference.gradients.get(name)!), name).toBeLessThan(1e-4);
    }
  });

  test('the reference’s gradient of A and B is the slope of its loss', () => {
    const adapters = livelyAdapters(config, everywhere, 5);
    const exact = new Map([...adapters].map(([name, { data }]) => [name, { data: Float64Array.from(data) }]));
    const decoder = () => new Float64Decoder(hf, base, { tensors: exact, scale: 5 / 3 });
    const reference = decoder();
    reference.addGradient(ids, weights, temperature);
    const loss = () =>
      -decoder()
        .logProbs(ids, temperature)
        .reduce((sum, logProb, t) => sum + logProb * weights[t]!, 0);
    for (const [name, { data }] of exact) {
      const at = (name.length * 7) % data.length;
      const value = data[at]!;
      data[at] = value + 1e-5;
      const above = loss();
      data[at] = value - 1e-5;
      const slope = (above - loss()) / 2e-5;
      data[at] = value;
      expect(Math.abs(reference.gradients.get(name)![at]! - slope), name).toBeLessThan(1e-7);
    }
  });

  test('merged equals applied, within 1e-5', async () => {
    const adapters = livelyAdapters(config, everywhere, 5);
    const applied = { runtime, config, form: { lora: everywhere }, tensors: together(base, adapters) };
    const before = new Map([...base].map(([name, { data }]) => [name, data.slice()]));
    const merged = mergeAdapters(config, everywhere, base, adapters);
    expect([...merged.keys()]).toEqual([...base.keys()]);
    for (const [name, { data }] of base) expect(data, `${name} of the base`).toEqual(before.get(name));
    const passes = [applied, { runtime, config, form: {}, tensors: merged }].map((model) =>
      graphPass(model, ids, weights, temperature, true),
    );
    const [one, other] = await Promise.all(passes);
    expect(largestError(one!.logits, other!.logits)).toBeLessThan(1e-5);
  });
});

describe('first values', () => {
  const config = {
    ...tinyConfig,
    hiddenSize: 256,
    intermediateSize: 688,
    headSize: 64,
    heads: 4,
    kvHeads: 4,
  };
  const lora: LoraConfig = { rank: 16, alpha: 32, targets: linearRoles };

  test('A is uniform below 1 / sqrt(in), B is zero', () => {
    for (const [name, { data, shape }] of initialAdapters(config, lora, 4)) {
      if (name.endsWith('lora_B.weight')) {
        expect(new Set(data)).toEqual(new Set([0]));
        continue;
      }
      const bound = 1 / Math.sqrt(shape[1]!);
      const deviation = Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length);
      expect(data.every((x) => Math.abs(x) <= bound)).toBe(true);
      expect(Math.abs(deviation / (bound / Math.sqrt(3)) - 1)).toBeLessThan(0.03);
      expect(Math.abs(data.reduce((sum, x) => sum + x, 0) / data.length) / bound).toBeLessThan(0.03);
    }
  });

  test('depend on seed and tensor alone', () => {
    const name = adapterTensorName(1, 'q_lora_A');
    const of = (seed: number, changed: Partial<LoraConfig> = {}) =>
      initialAdapters(config, { ...lora, ...changed }, seed).get(name)!.data;
    expect(of(4, { targets: ['q'] })).toEqual(of(4));
    expect(of(5)).not.toEqual(of(4));
    expect(initialAdapters(config, lora, 4).get(adapterTensorName(0, 'q_lora_A'))!.data).not.toEqual(of(4));
  });
});

describe('tensors', () => {
  test('are named and shaped as PEFT names and shapes them', () => {
    const names = adapterTensors(tinyConfig, { rank: 2, alpha: 2, targets: ['down', 'q'] }).map(
      ({ name, shape }) => `${name} ${shape.join('x')}`,
    );
    expect(names).toEqual(
      [0, 1].flatMap((layer) => [
        `base_model.model.model.layers.${layer}.self_attn.q_proj.lora_A.weight 2x16`,
        `base_model.model.model.layers.${layer}.self_attn.q_proj.lora_B.weight 16x2`,
        `base_model.model.model.layers.${layer}.mlp.down_proj.lora_A.weight 2x20`,
        `base_model.model.model.layers.${layer}.mlp.down_proj.lora_B.weight 16x2`,
      ]),
    );
  });

  test('of a layout all decay, and are packed by name', () => {
    const layout = adapterLayout(tinyConfig, everywhere);
    expect(layout.decayedSize).toBe(layout.size);
    const adapters = livelyAdapters(tinyConfig, everywhere, 1);
    expect(packTensors(layout, adapters).length).toBe(layout.size);
    const lacking = new Map(adapters);
    lacking.delete(adapterTensorName(1, 'o_lora_B'));
    expect(() => checkAdapters(layout, lacking)).toThrow('layers.1.self_attn.o_proj.lora_B.weight');
    expect(() => checkAdapters(adapterLayout(tinyConfig, some), adapters)).toThrow('no use for');
  });

  test('are counted', () => {
    // Two layers; r (in + out) of q 16+16, k and v 16+8, o 16+16, gate, up and down 16+20.
    expect(trainableParameters(tinyConfig, everywhere)).toBe(2 * 3 * (32 + 24 + 24 + 32 + 3 * 36));
    expect(trainableParameters(tinyConfig)).toBe(parameterLayout(tinyConfig).parameterCount);
  });
});

describe('refused', () => {
  test('a rank above what the smallest target can have', () => {
    expect(() => checkLora(tinyConfig, { rank: 9, alpha: 9, targets: ['q', 'v'] })).toThrow(
      'LoRA of rank 9: v_proj is a matrix of 8 x 16, whose rank is at most 8',
    );
    checkLora(tinyConfig, { rank: 9, alpha: 9, targets: ['q'] });
  });

  test('a module that is no linear layer', () => {
    expect(linearRoleOf('gate_proj')).toBe('gate');
    expect(() => linearRoleOf('embed_tokens')).toThrow('"embed_tokens" is no linear layer of this model');
  });
});
