// Fetched checkpoints as reward models: what is none is named, and nothing stays alive.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { hfModelConfig } from '../../runner/engine/models/config.ts';
import { writeModel } from '../../runner/checkpoint/write-model.ts';
import { failedOutcome } from '../../runner/trainer/outcome.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { openRewardModels } from '../../runner/trainer/reward-models.ts';
import { leakCheckedRuntime, livelyWeights } from '../engine/learner/support.ts';
import { tempDir } from '../support/temp-dir.ts';
import { writeTinyDirectory } from '../support/tiny-directory.ts';
import { tinyInit } from '../support/tiny-policy.ts';

const runtime = leakCheckedRuntime();

async function writeRewardModel(directory: string): Promise<void> {
  const base = await loadModel(tinyInit, { datasets: {} }, 1);
  const config = { ...base.config, scalarHead: true };
  const weights = [...livelyWeights(config, 1)].map(
    ([name, { shape, data }]) => [name, { dtype: 'float32' as const, shape, data }] as const,
  );
  const modelFiles = new Map(base.files).set('config.json', JSON.stringify(hfModelConfig(config, {})));
  await mkdir(directory);
  await writeModel(directory, { weights: new Map(weights), modelFiles });
}

test('each by its id, until the scope ends', async () => {
  await using dir = await tempDir('reward-models');
  const [one, other] = [join(dir.path, 'one'), join(dir.path, 'other')];
  for (const path of [one, other]) await writeRewardModel(path);
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
