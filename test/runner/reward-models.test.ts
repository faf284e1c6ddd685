// Fetched checkpoints as reward models: what is none is named, and nothing stays alive.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { failedOutcome } from '../../runner/trainer/outcome.ts';
import { openRewardModels } from '../../runner/trainer/reward-models.ts';
import { leakCheckedRuntime } from '../engine/learner/support.ts';
import { tempDir } from '../support/temp-dir.ts';
import { writeTinyDirectory } from '../support/tiny-directory.ts';
import { writeTinyRewardModel } from '../support/tiny-reward-model.ts';

const runtime = leakCheckedRuntime();

test('each by its id, until the scope ends', async () => {
  await using dir = await tempDir('reward-models');
  const [one, other] = [join(dir.path, 'one'), join(dir.path, 'other')];
  for (const path of [one, other]) await writeTinyRewardModel(path);
  const scope = new Scope();
  try {
    const models = await openRewardModels(runtime, { rewardModels: { ckpt_a: one, ckpt_b: other } }, scope);
    expect([...models.keys()]).toEqual(['ckpt_a', 'ckpt_b']);
    const item = { prompt: '1+1=', answer: '2' };
    const [a, b] = await Promise.all([...models.values()].map((score) => score([item])));
    expect(a).toEqual([{ value: expect.any(Number) as number }]);
    expect(b).toEqual(a);
  } finally {
    scope[Symbol.dispose]();
  }
  expect([...(await openRewardModels(runtime, {}, new Scope()))]).toEqual([]);
});

test('a checkpoint with a language head is an invalid model, by its id', async () => {
  await using dir = await tempDir('reward-models');
  await writeTinyDirectory(dir.path);
  const scope = new Scope();
  const failed = openRewardModels(runtime, { rewardModels: { ckpt_a: dir.path } }, scope);
  const outcome = failedOutcome(await failed.catch((error: unknown) => error));
  expect(outcome).toMatchObject({
    reason: 'invalid_model',
    message: expect.stringMatching(/^reward model ckpt_a: .*language head/) as string,
  });
  scope[Symbol.dispose]();
});
