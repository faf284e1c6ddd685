// Options at the ends of what is allowed: every log-probability stays a number, and a draw colder than float32 can say is
// the likeliest word.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import type { Completion, SampleOptions } from '../../../runner/engine/sampler/completion.ts';
import type { TinyPolicy } from '../../support/tiny-policy.ts';
import { tinyPolicy } from '../../support/tiny-policy.ts';

let runtime: Runtime;
let policy: TinyPolicy;
beforeAll(async () => {
  runtime = createRuntime();
  policy = await tinyPolicy(runtime);
});
afterAll(() => {
  policy[Symbol.dispose]();
  runtime[Symbol.dispose]();
});

async function drawn(options: Partial<SampleOptions>): Promise<Completion> {
  const request = { prompt: Int32Array.of(4, 5), maxTokens: 4, draw: () => 0.7 };
  const [completion] = await policy.sampler.generate([request], { temperature: 1, endIds: [], ...options });
  return completion!;
}

describe('log-probabilities are numbers', () => {
  test.each<[string, Partial<SampleOptions>, likeliest: boolean]>([
    ['hardly any temperature', { temperature: 1e-39 }, true],
    ['a temperature that float64 hardly holds', { temperature: 1e-320 }, true],
    ['a temperature beyond float32', { temperature: 1e300 }, false],
    ['a share kept that float32 does not hold', { topP: 1e-46 }, true],
    ['both', { temperature: 1e-39, topP: 1e-46 }, true],
    ['a share kept that float32 rounds to 1', { topP: 1 - 1e-16 }, false],
    ['only the likeliest, and those that are as likely', { minP: 1 }, true],
    ['more words kept than int32 holds', { topK: 2 ** 31 }, false],
    ['the largest bias', { temperature: 1e-39, logitBias: new Map([[3, 1e6]]) }, false],
  ])('at %s', async (_, options, likeliest) => {
    const { tokens, logProbs, samplingLogProbs, logProbsAtOne } = await drawn(options);
    for (const logProb of [...logProbs, ...samplingLogProbs, ...logProbsAtOne])
      expect(logProb).toSatisfy((x: number) => Number.isFinite(x) && x <= 1e-6);
    if (likeliest) expect(tokens).toEqual((await drawn({ temperature: 0 })).tokens);
  });

  test('since a bias that float32 would take for infinite is refused', async () => {
    for (const bias of [1e39, -1e39, 1e38, NaN])
      await expect(drawn({ logitBias: new Map([[3, bias]]) })).rejects.toThrow(/logitBias of token 3 is/);
  });
});
