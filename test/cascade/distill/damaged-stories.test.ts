// A damaged language model is distilled back from what it was: some steps of what `make accept-stories` does.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { distilDamagedStories, storiesStages } from '../../support/damaged-stories.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

describe.skipIf(testDataDir === undefined)(
  `a damaged model (${testDataDir === undefined ? noTestData : 'stories260K'})`,
  () => {
    let runtime: Runtime;
    beforeAll(() => void (runtime = createRuntime()));
    afterAll(() => {
      expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
      runtime[Symbol.dispose]();
    });

    it.each([
      ['policy_gradient', 0.4],
      ['divergence', 0.6],
    ] as const)('comes back on its own answers, by %s', { timeout: 120_000 }, async (way, fall) => {
      const kls: number[] = [];
      const { damage, before, after } = await distilDamagedStories(runtime, {
        directory: testData('stories260K/hf'),
        seed: 1,
        stage: { ...storiesStages[way], steps: 12, lr_schedule: 'constant' },
        onStep: (_, { metrics }) => void kls.push(metrics['kl']!),
      });
      expect(damage).toBeGreaterThanOrEqual(1);
      expect(before).toBeGreaterThan(1);
      expect(1 - after / before).toBeGreaterThan(fall);
      // What a step tells of its own answers is what whole distributions say of others.
      expect(kls[0]! / before).toBeGreaterThan(0.8);
      expect(kls[0]! / before).toBeLessThan(1.2);
    });
  },
);
