// The checkpoint of a job that trains adapters: what lies in it, that it resumes with the same bits, and that it goes on over no
// other base and with no other adapters than its own.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExpandedTuning } from '../../api/contract/tuning.ts';
import { openCheckpoint } from '../../runner/checkpoint/read.ts';
import { writeSnapshot } from '../../runner/checkpoint/snapshot.ts';
import type { PointKind } from '../../runner/cascade/point.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import { conditionsOf } from '../../runner/trainer/conditions.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import type { LoadedModel } from '../../runner/trainer/load-model.ts';
import { loadTuning } from '../../runner/trainer/load-tuning.ts';
import { failedOutcome } from '../../runner/trainer/outcome.ts';
import { restore, snapshotContents } from '../../runner/trainer/resume-state.ts';
import { leakCheckedRuntime, sequence } from '../engine/learner/support.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tinyInit } from '../support/tiny-policy.ts';

const runtime = leakCheckedRuntime();
const point = { stageIndex: 0, step: 2 };
const tuning: ExpandedTuning = { method: 'lora', rank: 4, alpha: 8, target_modules: ['v_proj', 'q_proj'] };
const job = (given: ExpandedTuning = tuning) => ({ model: { init: tinyInit, tuning: given }, seed: 7 });

let dir: TempDir;
let model: LoadedModel;
beforeAll(async () => {
  dir = await tempDir('lora-checkpoint');
  model = await loadModel(tinyInit, { datasets: {} }, 7, 'lora');
});
afterAll(() => dir.remove());

async function withLearner<T>(resume: string | undefined, use: (learner: Learner) => Promise<T>): Promise<T> {
  const loaded = await loadTuning(job(), model, resume);
  const learner = await Learner.create(runtime, model.config, model.weights, { tuning: loaded });
  try {
    return await use(learner);
  } finally {
    learner[Symbol.dispose]();
  }
}

async function step(learner: Learner): Promise<void> {
  await learner.forwardBackward([sequence([1, 2, 3, 4, 5], [0, 0.2, 0.3, 0.4, 0.1])], { temperature: 1 });
  await learner.step({ lr: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.1, clipNorm: 1 });
}

async function snapshot(learner: Learner, kind: PointKind): Promise<string> {
  const at = join(dir.path, `${kind}-${Math.random()}`);
  const header = { job: 'j', attempt: 1, stage: 'sft', stage_index: 0, step: 2, kind };
  const contents = await snapshotContents(
    { learner, files: model.files, tuning: await loadTuning(job(), model, undefined) },
    point,
    kind,
    { stage: {}, evaluations: [] },
  );
  const { memoryBytes } = learner;
  const chosen = { memoryBytes, cacheTokens: 1, precision: 'float32', device: 'cpu' } as const;
  await writeSnapshot(at, { ...header, conditions: conditionsOf(runtime, chosen) }, contents);
  return at;
}

const trained = (learner: Learner) => learner.namedAdapters().then((adapters) => structuredClone(adapters));

test.each(['step', 'stage_end'] as const)('of a %s resumes with the same bits', async (kind) => {
  let at = '';
  const expected = await withLearner(undefined, async (learner) => {
    await step(learner);
    await step(learner);
    at = await snapshot(learner, kind);
    await step(learner);
    return await trained(learner);
  });
  const checkpoint = await openCheckpoint(at);
  const names = checkpoint.manifest.files.map(({ name }) => name);
  expect(names.includes('model.safetensors')).toBe(kind === 'stage_end');
  for (const name of ['adapter/adapter_model.safetensors', 'adapter/adapter_config.json', 'config.json'])
    expect(names).toContain(name);
  const resumed = await withLearner(at, async (learner) => {
    expect(await restore(learner, checkpoint, await loadTuning(job(), model, at))).toMatchObject({
      ...point,
      kind,
    });
    await step(learner);
    return await trained(learner);
  });
  expect(resumed).toEqual(expected);
});

test('goes on over no other base', async () => {
  const at = await withLearner(undefined, (learner) => snapshot(learner, 'step'));
  const other = await loadModel(tinyInit, { datasets: {} }, 8, 'lora');
  const onOther = await loadTuning(job(), other, at);
  const refused = await withLearner(at, async (learner) =>
    restore(learner, await openCheckpoint(at), onOther).then(() => undefined, failedOutcome),
  );
  expect(refused).toMatchObject({ reason: 'invalid_model' });
  expect(refused).toMatchObject({ message: expect.stringContaining('no longer the one') as unknown });
});

test('holds the adapters of its own job only', async () => {
  const at = await withLearner(undefined, (learner) => snapshot(learner, 'step'));
  await expect(loadTuning(job({ ...tuning, rank: 5 }), model, at)).rejects.toThrow('"rank":4');
});

test('a rank that the model cannot have is an invalid model', async () => {
  const outcome = await loadTuning(job({ ...tuning, rank: 17 }), model, undefined).catch(failedOutcome);
  expect(outcome).toMatchObject({ reason: 'invalid_model' });
  expect(outcome).toMatchObject({
    message: expect.stringContaining('v_proj is a matrix of 16 x 32') as unknown,
  });
});
