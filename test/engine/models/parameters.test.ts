import { describe, expect, test } from 'vitest';
import { initialWeights } from '../../../runner/engine/models/initialize.ts';
import { blockTensorName } from '../../../runner/engine/models/decoder-tensors.ts';
import {
  namedViews,
  packWeights,
  parameterLayout,
  slotView,
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
    // A tied model's file may repeat the head.
    expect(() => pack(() => undefined, { ...tinyConfig, tieWordEmbeddings: true })).not.toThrow();
  });
});
