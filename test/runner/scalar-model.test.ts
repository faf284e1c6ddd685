// A language model becomes a reward model: what is dropped, what is new, and that the directory which training leaves is one that
// the grader opens.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeModel } from '../../runner/checkpoint/write-model.ts';
import { scoreName } from '../../runner/engine/models/decoder-tensors.ts';
import type { LoadedModel } from '../../runner/grader/read-model.ts';
import { readModel } from '../../runner/grader/read-model.ts';
import { RewardModel } from '../../runner/grader/reward-model.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { openPolicy } from '../../runner/trainer/open-policy.ts';
import { withScalarHead } from '../../runner/trainer/scalar-model.ts';
import { leakCheckedRuntime } from '../engine/learner/support.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tinyInit, tinySpec } from '../support/tiny-policy.ts';
import { writeTinyRewardModel } from '../support/tiny-reward-model.ts';

const runtime = leakCheckedRuntime();

async function untied(extra: Record<string, unknown> = {}): Promise<LoadedModel> {
  const init = { ...tinyInit, config: { ...tinyInit.config, tie_word_embeddings: false } };
  const model = await loadModel(init, { datasets: {} }, 3);
  const config = { ...(JSON.parse(model.files.get('config.json')!) as object), ...extra };
  const files = new Map(model.files)
    .set('config.json', JSON.stringify(config))
    .set('generation_config.json', '{}');
  return { ...model, files };
}

test('the language head is dropped, the scalar head is zero, the rest is as it was', async () => {
  const base = await untied();
  const { config, weights } = withScalarHead(base);
  expect(config).toEqual({ ...base.config, scalarHead: true });
  expect(base.weights.has('lm_head.weight')).toBe(true);
  const kept = new Map(base.weights);
  kept.delete('lm_head.weight');
  expect(weights).toEqual(new Map([...kept, [scoreName, { shape: [1, 32], data: new Float32Array(32) }]]));
});

test('config.json keeps what its publisher wrote and says what it now is', async () => {
  const base = await untied({ rope_theta: 5e5, sliding_window: null, num_labels: 2, pad_token_id: null });
  const { files } = withScalarHead(base);
  expect(files.has('generation_config.json')).toBe(false);
  const config = JSON.parse(files.get('config.json')!) as Record<string, unknown>;
  expect(config).toMatchObject({
    ...{ architectures: ['LlamaForSequenceClassification'], id2label: { 0: 'LABEL_0' } },
    ...{ rope_theta: 5e5, sliding_window: null, pad_token_id: base.tokenizer.padId },
  });
  expect(config).not.toHaveProperty('num_labels');
});

test('a reward model goes on as it is', async () => {
  const dir = await tempDir('scalar-model');
  try {
    await writeTinyRewardModel(dir.path);
    const model = await readModel(dir.path);
    expect(withScalarHead(model)).toBe(model);
    expect(model.weights.get(scoreName)!.data.some((value) => value !== 0)).toBe(true);
  } finally {
    await dir.remove();
  }
});

test('what it is written as, the grader opens', async () => {
  const dir = await tempDir('scalar-model');
  try {
    const { weights, files } = withScalarHead(await untied());
    const stored = new Map([...weights].map(([name, of]) => [name, { dtype: 'float32' as const, ...of }]));
    await writeModel(dir.path, { weights: stored, modelFiles: files });
    const rewardModel = await RewardModel.create(runtime, await readModel(join(dir.path)));
    try {
      expect(await rewardModel.score([{ prompt: '1+1=', answer: '2' }])).toEqual([{ value: 0 }]);
    } finally {
      rewardModel[Symbol.dispose]();
    }
  } finally {
    await dir.remove();
  }
});

test('a policy cannot begin with a reward model', async () => {
  const dir = await tempDir('scalar-model');
  try {
    await writeTinyRewardModel(dir.path);
    const inputs = { datasets: {}, init: dir.path };
    const device = { provider: 'cpu', name: 'cpu', memoryGb: 1 } as const;
    await expect(openPolicy(runtime, { spec: tinySpec() }, inputs, device)).rejects.toThrow(
      /has a scalar head: a reward model answers nothing/,
    );
  } finally {
    await dir.remove();
  }
});
