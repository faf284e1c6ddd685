// A runtime that tells of every run: the same results, a sign at the end of a run, none while one does not return.
import { afterEach, expect, test } from 'vitest';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { withSignsOfLife } from '../../runner/trainer/signs-of-life.ts';
import { tinyPolicy } from '../support/tiny-policy.ts';

let runtime: Runtime;
afterEach(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

const requests = [{ prompt: Int32Array.of(3), maxTokens: 6, draw: () => 0.5 }];
const options = { temperature: 1, endIds: [] };

test('a step of the sampler and one of the learner are signs', async () => {
  let signs = 0;
  runtime = withSignsOfLife(createRuntime(), () => (signs += 1), 0);
  const policy = await tinyPolicy(runtime);
  try {
    const [completion] = await policy.sampler.generate(requests, options);
    const tokens = completion!.tokens;
    expect(tokens).toHaveLength(6);
    expect(signs).toBeGreaterThanOrEqual(6);
    const sampled = signs;
    await policy.learner.forwardBackward(
      [{ tokens_T: Int32Array.of(3, ...tokens), weights_T: new Float32Array(7).fill(0.1, 1) }],
      { temperature: 1 },
    );
    expect(signs).toBeGreaterThan(sampled);
  } finally {
    policy[Symbol.dispose]();
  }
});

test('signs are not told more often than asked', async () => {
  let signs = 0;
  runtime = withSignsOfLife(createRuntime(), () => (signs += 1), 3_600_000);
  const policy = await tinyPolicy(runtime);
  try {
    await policy.sampler.generate(requests, options);
    expect(signs).toBe(1);
  } finally {
    policy[Symbol.dispose]();
  }
});
