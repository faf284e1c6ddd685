import { describe, expect, test } from 'vitest';
import { initialWeights } from '../../../runner/engine/models/initialize.ts';
import { blockTensorName, embeddingName } from '../../../runner/engine/models/decoder-tensors.ts';
import type { BlockRole } from '../../../runner/engine/models/decoder-tensors.ts';
import {
  namedViews,
  packWeights,
  parameterLayout,
  slotView,
  UnfitWeights,
} from '../../../runner/engine/models/parameters.ts';
import { tinyConfig } from './tiny-config.ts';

describe('initial weights', () => {
  test('depend on seed and tensor name, with the configured deviation, and unit norms', () => {
    const config = { ...tinyConfig, hiddenSize: 128, headSize: 32, intermediateSize: 344 };
    const weights = initialWeights(config, 5);
    const q0 = weights.get(blockTensorName(0, 'q'))!.data;
    const deviation = Math.sqrt(q0.reduce((sum, x) => sum + x * x, 0) / q0.length);
    expect(deviation).toBeGreaterThan(0.0195);
    expect(deviation).toBeLessThan(0.0205);
    expect(weights.get(blockTensorName(1, 'q'))!.data).not.toEqual(q0);
    expect(initialWeights(config, 6).get(blockTensorName(0, 'q'))!.data).not.toEqual(q0);
    expect(initialWeights(config, 5).get(blockTensorName(0, 'q'))!.data).toEqual(q0);
    expect(new Set(weights.get('model.norm.weight')!.data)).toEqual(new Set([1]));
  });
});

describe('layout', () => {
  const layout = parameterLayout(tinyConfig);

  test('matrices come before the decay boundary, norms after it, and nothing overlaps', () => {
    let end = 0;
    for (const { name, shape, offset, size } of layout.slots.values()) {
      expect(offset).toBeGreaterThanOrEqual(end);
      if (!/k_proj|v_proj|up_proj/.test(name)) expect(offset % 16).toBe(0);
      expect(offset < layout.decayedSize, name).toBe(shape.length === 2);
      end = offset + size;
    }
    expect(layout.size).toBeGreaterThanOrEqual(end);
  });

  test('counts the parameters of the model', () => {
    // embedding and head 2 * 11 * 16; a block 16*(16 + 8 + 8 + 16) + 3*16*20 + 2*16; the last norm 16
    expect(layout.parameterCount).toBe(352 + 2 * (768 + 960 + 32) + 16);
  });

  test('packs and unpacks by name', () => {
    const weights = initialWeights(tinyConfig, 1);
    const arena = packWeights(tinyConfig, layout, weights);
    for (const [name, { data, shape }] of namedViews(layout, arena)) {
      expect(data).toEqual(weights.get(name)!.data);
      expect(shape).toEqual(weights.get(name)!.shape);
      expect(data.buffer).toBe(arena.buffer);
    }
    expect(() => slotView(layout, arena, 'model.nothing')).toThrow(/no parameter "model\.nothing"/);
  });

  test.each([NaN, Infinity, -Infinity])('a weight that is %d is refused by its tensor', (value) => {
    const weights = initialWeights(tinyConfig, 1);
    const name = blockTensorName(1, 'q');
    const { data, shape } = weights.get(name)!;
    const spoilt = data.slice().fill(value, 3, 4);
    expect(() =>
      packWeights(tinyConfig, layout, new Map([...weights, [name, { shape, data: spoilt }]])),
    ).toThrow(new UnfitWeights(`tensor "${name}" holds ${value} at element 3: no finite number`));
  });

  test('q, k, v and gate, up have no gaps between them, whatever the sizes', () => {
    const { slots } = parameterLayout({ ...tinyConfig, hiddenSize: 3, headSize: 2, intermediateSize: 5 });
    for (const roles of [
      ['q', 'k', 'v'],
      ['gate', 'up'],
    ] as const) {
      const neighbours = roles.map((role) => slots.get(blockTensorName(1, role))!);
      neighbours
        .slice(1)
        .forEach(({ offset }, i) => expect(offset).toBe(neighbours[i]!.offset + neighbours[i]!.size));
    }
  });

  test('missing, unused and misshapen tensors are named', () => {
    const weights = new Map(initialWeights(tinyConfig, 1));
    const pack = (change: (copy: typeof weights) => void, config = tinyConfig): unknown => {
      const copy = new Map(weights);
      change(copy);
      return packWeights(config, parameterLayout(config), copy);
    };
    expect(() => pack((copy) => copy.delete('lm_head.weight'))).toThrow(/lack 1 tensors: lm_head\.weight/);
    expect(() => pack((copy) => copy.set('model.extra', weights.get('lm_head.weight')!))).toThrow(
      /1 tensors .*no use for: model\.extra/,
    );
    expect(() => pack((copy) => copy.set('model.norm.weight', weights.get('lm_head.weight')!))).toThrow(
      /"model\.norm\.weight" has shape \[11, 16\], the configuration needs \[16\]/,
    );
    // A tied model's file may repeat the head, but hold no other.
    const tied = { ...tinyConfig, tieWordEmbeddings: true };
    const repeat = (copy: typeof weights) => copy.set('lm_head.weight', weights.get(embeddingName)!);
    expect(() => pack(repeat, tied)).not.toThrow();
    expect(() => pack(() => undefined, tied)).toThrow(
      /"lm_head\.weight" is another than "model\.embed_tokens/,
    );
  });

  test('rotations that old checkpoints store are taken where they are those of the configuration, else refused', () => {
    const name = 'model.layers.0.self_attn.rotary_emb.inv_freq';
    const pack = (...inverse: number[]): unknown => {
      const stored = { shape: [inverse.length], data: Float32Array.from(inverse) };
      return packWeights(tinyConfig, layout, new Map([...initialWeights(tinyConfig, 1), [name, stored]]));
    };
    expect(() => pack(1, 0.01)).not.toThrow();
    // Rounded to bfloat16.
    expect(() => pack(1, 0.010009765625)).not.toThrow();
    for (const other of [[1, 0.02], [1], [1, 0.01, 0]])
      expect(() => pack(...other)).toThrow(
        expect.objectContaining({
          name: 'UnfitWeights',
          message: expect.stringMatching(/layers\.0\.self_attn\.rotary_emb\.inv_freq" is not what .* RoPE/),
        }),
      );
  });

  test('biases and norms of queries and keys lie behind the decay boundary, q, k and v biases without gaps', () => {
    const config = { ...tinyConfig, qkvBias: true, qkNorm: true, headSize: 6 };
    const { slots, decayedSize } = parameterLayout(config);
    const of = (role: BlockRole) => slots.get(blockTensorName(1, role))!;
    for (const role of ['qBias', 'kBias', 'vBias', 'qNorm', 'kNorm'] as const)
      expect(of(role).offset, role).toBeGreaterThanOrEqual(decayedSize);
    expect(of('kBias').offset).toBe(of('qBias').offset + 24);
    expect(of('vBias').offset).toBe(of('kBias').offset + 12);
    expect(of('kNorm')).toMatchObject({ name: 'model.layers.1.self_attn.k_norm.weight', shape: [6] });
  });

  test('a model without a family’s tensors, and one with tensors of another, are refused by name', () => {
    const biased = { ...tinyConfig, qkvBias: true };
    const pack = (config: typeof tinyConfig, from: typeof tinyConfig): unknown =>
      packWeights(config, parameterLayout(config), initialWeights(from, 1));
    expect(() => pack(biased, tinyConfig)).toThrow(/lack 6 tensors: .*layers\.0\.self_attn\.q_proj\.bias/);
    expect(() => pack(tinyConfig, biased)).toThrow(
      /6 tensors .*no use for: .*layers\.0\.self_attn\.q_proj\.bias/,
    );
    expect(() => pack(tinyConfig, { ...tinyConfig, qkNorm: true })).toThrow(/no use for: .*q_norm\.weight/);
  });

  test('new biases are zero, new norms one', () => {
    const weights = initialWeights({ ...tinyConfig, qkvBias: true, qkNorm: true }, 1);
    expect(new Set(weights.get(blockTensorName(0, 'vBias'))!.data)).toEqual(new Set([0]));
    expect(new Set(weights.get(blockTensorName(0, 'qNorm'))!.data)).toEqual(new Set([1]));
  });
});
