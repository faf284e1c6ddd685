// A tensor that no buffer of a WebGPU adapter holds is refused by name before anything is trained.
import { describe, expect, it } from 'vitest';
import { publishedModels } from '../../../infra/published-models.ts';
import { checkTensorSizes, TensorTooLarge } from '../../../runner/engine/learner/tensor-limit.ts';
import { parameterLayout } from '../../../runner/engine/models/parameters.ts';
import { failedOutcome } from '../../../runner/trainer/outcome.ts';
import { configOf } from '../../support/published-config.ts';

const layoutOf = (name: string) => parameterLayout(configOf(publishedModels[name]!));

describe('the largest tensor', () => {
  it('of 8B is its embedding, which webgpu cannot bind in float32; cpu and cuda can', () => {
    const layout = layoutOf('Qwen3-8B');
    const check = () => checkTensorSizes(layout, 'webgpu');
    expect(check).toThrow(TensorTooLarge);
    expect(check).toThrow(/"model\.embed_tokens\.weight" \[151936, 4096\] takes 2489319424 bytes/);
    for (const provider of ['cpu', 'cuda'] as const) checkTensorSizes(layout, provider);
  });

  it('of 4B fits', () => {
    checkTensorSizes(layoutOf('Qwen3-4B'), 'webgpu');
  });

  it('fails a job for good, since no other attempt would fare better', () => {
    expect(failedOutcome(new TensorTooLarge('tensor "w"'))).toMatchObject({ reason: 'invalid_model' });
  });
});
