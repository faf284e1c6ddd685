// What an attempt holds once its policy is open: weights, gradients and moments, and no second copy of what was read.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { openPolicy } from '../../runner/trainer/open-policy.ts';
import { tinyInit, tinySpec } from '../support/tiny-policy.ts';

const config = {
  ...tinyInit.config,
  hidden_size: 256,
  intermediate_size: 1024,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  max_position_embeddings: 64,
};
const tokenizer = { type: 'characters' as const, alphabet: '0123456789' };

async function heldBytes(): Promise<number> {
  for (let i = 0; i < 3; i += 1) {
    await turn();
    globalThis.gc!();
  }
  return process.memoryUsage().arrayBuffers;
}

it.skipIf(globalThis.gc === undefined)('lets go of the weights that were loaded', async () => {
  const runtime = createRuntime();
  const spec = {
    ...tinySpec(),
    model: { init: { from: 'config', config, tokenizer }, tuning: { method: 'full' } },
  };
  const before = await heldBytes();
  const policy = await openPolicy(
    runtime,
    { spec } as Parameters<typeof openPolicy>[1],
    { datasets: {} },
    { provider: 'cpu', memoryGb: 8, name: 'cpu' },
  );
  const perArena = 4 * (await policy.learner.state()).weights.length;
  expect(perArena).toBeGreaterThan(15e6);
  expect(((await heldBytes()) - before) / perArena).toBeLessThan(4.5);
  expect(policy.learner.memoryBytes).toBeGreaterThan(0);
  policy[Symbol.dispose]();
  runtime[Symbol.dispose]();
});
