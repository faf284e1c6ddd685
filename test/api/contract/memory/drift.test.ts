// The contract reckons without the engine, so here the two are compared: what the engine's plan books for one row whose
// blocks recompute, the parameters of its layout, and the caches that its sampler makes.
import { describe, expect, it } from 'vitest';
import {
  blockBytes,
  blockInputBytes,
  headBytes,
  hiddenEndBytes,
  paddedLength,
} from '../../../../api/contract/memory/activations.ts';
import { cacheTokenBytes, slotLimits } from '../../../../api/contract/memory/cache.ts';
import { parameterCount, sizesApart } from '../../../../api/contract/memory/parameters.ts';
import type { ModelSizes } from '../../../../api/contract/model-shape.ts';
import { modelSizes } from '../../../../api/contract/model-shape.ts';
import { publishedModels } from '../../../../infra/published-models.ts';
import { microBatchBytes, planMicroBatches } from '../../../../runner/engine/learner/memory-plan.ts';
import { bucketLength } from '../../../../runner/engine/learner/micro-batches.ts';
import { cacheTokenBytes as cacheTokenBytesOf, spareBytes } from '../../../../runner/engine/memory-budget.ts';
import { hfModelConfig } from '../../../../runner/engine/models/config.ts';
import { adapterLayout, parameterLayout } from '../../../../runner/engine/models/parameters.ts';
import { defaultSlotLimits } from '../../../../runner/engine/sampler/slot-limits.ts';
import { configOf } from '../../../support/published-config.ts';

const tiny: readonly ModelSizes[] = (['llama', 'qwen2', 'qwen3'] as const).map((modelType) => ({
  modelType,
  vocabSize: 1021,
  hiddenSize: 96,
  intermediateSize: 250,
  layers: 3,
  heads: 6,
  kvHeads: 2,
  headSize: 24,
  maxPositions: 65_536,
  tieWordEmbeddings: modelType === 'qwen2',
}));
const all = [...Object.values(publishedModels), ...tiny];

const lengths = [1, 8, 9, 63, 65, 100, 511, 512, 1000, 2047, 4096, 5001, 16_384, 24_577, 40_960];

describe('the engine', () => {
  it.each(lengths)('pads a sequence of %i tokens alike', (length) => {
    expect(paddedLength(length)).toBe(bucketLength(length));
  });

  it.each(all)('reads the same sizes and lays out as many parameters: $modelType $hiddenSize', (sizes) => {
    const config = configOf(sizes);
    expect(modelSizes.parse(hfModelConfig(config, {}))).toEqual(sizes);
    expect(parameterLayout(config).parameterCount).toBe(parameterCount(sizes));
  });

  it.each(all)('books the same bytes for one row that recomputes: $modelType $hiddenSize', (sizes) => {
    const config = configOf(sizes);
    const budget = { memoryBytes: 1, tokenBudget: 1, activations: 'recomputed' } as const;
    for (const plan of planMicroBatches(config, lengths, budget)) {
      const S = plan.length;
      expect(plan).toMatchObject({ rows: 1, activations: 'recomputed' });
      const reckoned =
        blockInputBytes(sizes, S) + hiddenEndBytes(sizes, S) + blockBytes(sizes, S) + headBytes(sizes, S);
      expect([S, reckoned]).toEqual([S, plan.bytes]);
      expect(microBatchBytes(config, plan)).toBe(reckoned);
    }
  });

  it.each(all)('needs as many spare bytes on a device: $modelType $hiddenSize', (sizes) => {
    const config = configOf(sizes);
    expect(spareBytes(parameterLayout(config))).toBe(12 * sizesApart(sizes, { method: 'full' }));
    const lora = { rank: 8, alpha: 16, targets: ['q', 'k', 'down'] } as const;
    const tuning = { method: 'lora', rank: 8, target_modules: ['q_proj', 'k_proj', 'down_proj'] } as const;
    expect(spareBytes(adapterLayout(config, lora))).toBe(12 * sizesApart(sizes, tuning));
  });

  it('samples with the limits that are reckoned with, in caches of as many bytes a token', () => {
    expect(slotLimits).toEqual(defaultSlotLimits);
    for (const sizes of all) {
      const config = configOf(sizes);
      expect(cacheTokenBytesOf(config, 'cpu')).toBe(cacheTokenBytes(sizes, 4));
      // On a device batches of all sizes have caches of their own, together twice the largest.
      expect(cacheTokenBytesOf(config, 'webgpu')).toBe(2 * cacheTokenBytes(sizes, 4));
    }
  });
});
