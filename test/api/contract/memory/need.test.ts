// The memory arithmetic on Qwen3's shapes gives the table that the design was made with, to its printed digits, and
// every line is counted once.
import { describe, expect, it } from 'vitest';
import {
  blockInputBytes,
  hiddenEndBytes,
  wholeBlockBytes,
} from '../../../../api/contract/memory/activations.ts';
import { cacheTokenBytes } from '../../../../api/contract/memory/cache.ts';
import { asBuilt, asDesigned, memoryNeed } from '../../../../api/contract/memory/need.ts';
import { adapterCount, parameterCount } from '../../../../api/contract/memory/parameters.ts';
import { loraModules } from '../../../../api/contract/tuning.ts';
import type { ModelSizes } from '../../../../api/contract/model-shape.ts';
import { publishedModels } from '../../../../infra/published-models.ts';

const columns = ['Qwen3-0.6B', 'Qwen3-1.7B', 'Qwen3-4B', 'Qwen3-8B'].map((name) => publishedModels[name]!);
const lora = { method: 'lora', rank: 64, target_modules: loraModules } as const;
const none = { trained: 0, sampled: 0, sequences: 1 };

/** As the table prints: the same number of digits after the point as `printed` has. */
const digitsOf = (printed: string): number => printed.split('.')[1]?.length ?? 0;

function expectRow(printed: readonly string[], gb: (sizes: ModelSizes) => number): void {
  expect(columns.map((sizes, i) => gb(sizes).toFixed(digitsOf(printed[i]!)))).toEqual(printed);
}

const lengths = { '4K': 4096, '16K': 16_384, '40K': 40_960 } as const;

describe('the table of models and bytes', () => {
  it('full, F32, in-place AdamW', () => {
    const full = (sizes: ModelSizes) => memoryNeed(sizes, { method: 'full' }, 'cpu', none).bytes / 1e9;
    expectRow(['9.5', '27.5', '64.4', '131'], full);
  });

  it('plus a 16-bit copy', () => {
    const full = (sizes: ModelSizes) =>
      memoryNeed(sizes, { method: 'full' }, 'cpu', none, asDesigned).bytes / 1e9;
    expectRow(['10.7', '31', '72', '147'], full);
  });

  it('LoRA of rank 64 on all linears: adapters with moments, and the 16-bit base', () => {
    expectRow(['0.6', '1.1', '2.1', '2.8'], (sizes) => (16 * adapterCount(sizes, lora)) / 1e9);
    expectRow(['1.2', '3.4', '8.0', '16.4'], (sizes) => (2 * parameterCount(sizes)) / 1e9);
    for (const sizes of columns)
      expect(memoryNeed(sizes, lora, 'cpu', none, asDesigned).bytes).toBe(
        16 * adapterCount(sizes, lora) + 2 * parameterCount(sizes),
      );
  });

  it.each([
    ['4K', ['0.5', '0.9', '1.5', '2.4']],
    ['16K', ['1.9', '3.8', '6', '9.7']],
    ['40K', ['4.7', '9.4', '15', '24']],
  ] as const)('block inputs of one sequence of %s', (length, printed) => {
    expectRow(printed, (sizes) => blockInputBytes(sizes, lengths[length]) / 1e9);
  });

  it.each([
    ['4K', ['0.5', '0.8', '1.2', '1.5']],
    ['16K', ['1.9', '3.2', '4.9', '6.2']],
    ['40K', ['4.9', '8.1', '12', '15']],
  ] as const)('one block’s intermediates without scores, %s', (length, printed) => {
    expectRow(printed, (sizes) => wholeBlockBytes(sizes, lengths[length]) / 1e9);
  });

  it('a token of cache in 16 bits', () => {
    const [smallest, , , largest] = columns;
    expect(cacheTokenBytes(smallest!, 2)).toBe(114_688);
    expect(cacheTokenBytes(largest!, 2)).toBe(147_456);
  });
});

describe('the need', () => {
  const [sizes] = columns as [ModelSizes, ...ModelSizes[]];
  const worked = { trained: 4096, sampled: 4096, sequences: 64 };
  const bytesOf = (line: string, ...args: Parameters<typeof memoryNeed>): number =>
    memoryNeed(...args)
      .lines.filter(({ name }) => name === line)
      .reduce((total, { bytes }) => total + bytes, 0);

  it('is the sum of its lines', () => {
    const need = memoryNeed(sizes, { method: 'full' }, 'cuda', worked);
    expect(need.bytes).toBe(need.lines.reduce((total, { bytes }) => total + bytes, 0));
    expect(new Set(need.lines.map(({ name }) => name)).size).toBe(need.lines.length);
  });

  it('holds everything in F32, as built; as designed, what is not trained in 16 bits', () => {
    for (const accelerator of ['cpu', 'webgpu', 'cuda'] as const) {
      expect(bytesOf('copy', sizes, { method: 'full' }, accelerator, worked)).toBe(0);
      expect(bytesOf('frozen', sizes, lora, accelerator, worked)).toBe(4 * parameterCount(sizes));
    }
    expect(bytesOf('frozen', sizes, lora, 'webgpu', worked, asDesigned)).toBe(2 * parameterCount(sizes));
    expect(bytesOf('copy', sizes, { method: 'full' }, 'cuda', worked, asDesigned)).toBe(
      2 * parameterCount(sizes),
    );
    const cache = (storage: typeof asDesigned) =>
      bytesOf('cache', sizes, { method: 'full' }, 'cuda', worked, storage);
    expect(cache(asBuilt)).toBe(2 * cache(asDesigned));
    expect(cache(asDesigned)).toBe(2 * 4096 * 114_688);
  });

  it('trains nothing and samples nothing for nothing', () => {
    const names = memoryNeed(sizes, { method: 'full' }, 'cpu', none).lines.map(({ name }) => name);
    expect(names).toEqual(['weights', 'gradients', 'moments']);
  });

  it('grows with depth by weights and block inputs only', () => {
    const deeper = { ...sizes, layers: sizes.layers + 1 };
    const changed = memoryNeed(deeper, lora, 'cuda', { ...worked, sampled: 0 }).lines.filter(
      ({ bytes, name }) => bytes !== bytesOf(name, sizes, lora, 'cuda', { ...worked, sampled: 0 }),
    );
    expect(changed.map(({ name }) => name)).toEqual([
      'frozen',
      'weights',
      'gradients',
      'moments',
      'block_inputs',
    ]);
    expect(hiddenEndBytes(deeper, 4096)).toBe(hiddenEndBytes(sizes, 4096));
  });
});
