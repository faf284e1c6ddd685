// What a model leaves of a machine's memory, shared out: figures of published shapes, and the bounds that no machine crosses.
import { describe, expect, it } from 'vitest';
import { publishedModels } from '../../infra/published-models.ts';
import { defaultMemoryBytes } from '../../runner/engine/learner/token-budget.ts';
import { cacheTokenBytes, frozenAtOnce, memoryBudgets } from '../../runner/engine/memory-budget.ts';
import type { LoraConfig } from '../../runner/engine/models/lora.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import { defaultSlotLimits } from '../../runner/engine/sampler/slot-limits.ts';
import { configOf } from '../support/published-config.ts';

const GB = 1e9;
const small = configOf(publishedModels['Qwen3-0.6B']!);
const large = configOf(publishedModels['Qwen3-8B']!);
const lora: LoraConfig = { rank: 64, alpha: 128, targets: ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] };

describe('memory budgets', () => {
  it('on the cpu are those that a learner takes by itself, whatever caches get', () => {
    const { activationBytes } = memoryBudgets(small, undefined, { provider: 'cpu', memoryBytes: 64 * GB });
    expect(activationBytes).toBe(defaultMemoryBytes(parameterLayout(small).parameterCount, 64 * GB));
  });

  it('of a device follow its own memory, not the RAM beside it', () => {
    const of = (gb: number) => memoryBudgets(small, undefined, { provider: 'cuda', memoryBytes: gb * GB });
    // 21.6 GB usable, 9.5 of weights and moments, 2 of spare buffers: half of what is left.
    expect(of(24).activationBytes).toBe(2 ** 32);
    expect(of(141).activationBytes).toBe(2 ** 35);
  });

  it('make room for the reference of a KL penalty', () => {
    const device = { provider: 'cuda', memoryBytes: 24 * GB } as const;
    // 2.4 GB more of weights: half of what is left falls below 2^32.
    const frozenParameters = parameterLayout(small).parameterCount;
    expect(memoryBudgets(small, undefined, { ...device, frozenParameters }).activationBytes).toBe(2 ** 31);
  });

  it('hold as many teachers at a time as leave half of what the policy leaves, and one in any case', () => {
    const parameters = parameterLayout(small).parameterCount;
    const atOnce = (memoryBytes: number, wanted = 5): number =>
      frozenAtOnce(small, undefined, { provider: 'cpu', memoryBytes }, { parameters, wanted });
    // 9.5 GB of weights and moments, 2.4 GB a teacher.
    expect([8, 14, 16, 20, 24, 64].map((gb) => atOnce(gb * GB))).toEqual([1, 1, 1, 2, 3, 5]);
    expect(atOnce(64 * GB, 2)).toBe(2);
  });

  it.each(['cpu', 'webgpu', 'cuda'] as const)('hold together within what weights leave on %s', (provider) => {
    for (const [config, tuning] of [
      [small, undefined],
      [small, lora],
      [large, lora],
    ] as const)
      for (const gb of [16, 24, 80, 141]) {
        const budgets = memoryBudgets(config, tuning, { provider, memoryBytes: gb * GB });
        const weights = (tuning ? 4 : 16) * parameterLayout(config).parameterCount;
        const left = Math.max(gb * GB - weights, 0);
        const { cacheTokens } = budgets.slots;
        const cache = cacheTokens * cacheTokenBytes(config, provider);
        expect(cacheTokens === 1 || cache <= left / 4, `${gb} GB`).toBe(true);
        expect(budgets.activationBytes).toBeLessThanOrEqual(Math.max(2 ** 28, left / 2));
        expect(Number.isInteger(Math.log2(cacheTokens))).toBe(true);
        expect(cacheTokens).toBeLessThanOrEqual(defaultSlotLimits.cacheTokens);
      }
  });

  it('leave the sampler one row at least where nothing is left, and its default where there is room', () => {
    const tokens = (gb: number) =>
      memoryBudgets(small, undefined, { provider: 'cpu', memoryBytes: gb * GB }).slots.cacheTokens;
    expect(tokens(8)).toBe(1);
    // 114,688 x 2 bytes a token in float32: 32,768 of them are 7.5 GB.
    expect(tokens(48)).toBe(32_768);
    expect(tokens(512)).toBe(131_072);
  });
});
