// The checkpoint within a stage that is held to where it began: what lies in it, and that a policy opened from it by a process that
// has seen nothing of the stage ends with the same bits, whether the whole model is trained or adapters are.
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import type { ExpandedTuning } from '../../api/contract/tuning.ts';
import type { Point, PointKind } from '../../runner/cascade/point.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import { openCheckpoint } from '../../runner/checkpoint/read.ts';
import { referenceName, writeSnapshot } from '../../runner/checkpoint/snapshot.ts';
import { conditionsOf } from '../../runner/trainer/conditions.ts';
import { openPolicy } from '../../runner/trainer/open-policy.ts';
import { restore, snapshotContents } from '../../runner/trainer/resume-state.ts';
import { leakCheckedRuntime } from '../engine/learner/support.ts';
import { means } from '../support/means.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { noWaiting, tinyDatasets, tinySpec } from '../support/tiny-policy.ts';

const runtime = leakCheckedRuntime();
let dir: TempDir;
beforeAll(async () => void (dir = await tempDir('reference-checkpoint')));
afterAll(() => dir.remove());

interface Kept {
  readonly point: Point;
  readonly kind: PointKind;
  readonly at: string;
}

/** From `resume`, or from the very beginning; gives the snapshots and what was trained. */
async function run(spec: ExpandedSpec, resume?: string) {
  const inputs = { datasets: {}, ...(resume === undefined ? {} : { resume }) };
  const device = { provider: 'cpu', memoryGb: 8, name: 'cpu' } as const;
  const policy = await openPolicy(runtime, { spec }, inputs, device);
  const { learner, files, tuning } = policy;
  const chosen = { memoryBytes: 1, cacheTokens: 1, precision: 'float32', device: 'cpu' } as const;
  const conditions = conditionsOf(runtime, chosen);
  const kept: Kept[] = [];
  const kls: number[] = [];
  try {
    const from =
      resume === undefined ? undefined : await restore(learner, await openCheckpoint(resume), tuning);
    await runCascade(
      spec,
      policy,
      tinyDatasets,
      means,
      {
        clock: noWaiting,
        alive: () => undefined,
        pauseAsked: () => false,
        emit: (entry) => {
          if (entry.type === 'step' && 'kl' in entry.metrics) kls.push(entry.metrics['kl']!);
        },
        progress: () => undefined,
        samples: () => Promise.resolve(),
        snapshot: async (point, kind, carried) => {
          const at = join(dir.path, `${Math.random()}`);
          const stage = spec.stages[point.stageIndex]!.name;
          const where = { stage, stage_index: point.stageIndex, step: point.step, kind };
          const contents = await snapshotContents({ learner, files, tuning }, point, kind, carried);
          await writeSnapshot(at, { job: 'j', attempt: 1, ...where, conditions }, contents);
          kept.push({ point, kind, at });
        },
      },
      from,
    );
    const trained = structuredClone((await learner.namedAdapters()) ?? (await learner.namedWeights()));
    return { kept, trained, kls };
  } finally {
    policy[Symbol.dispose]();
  }
}

const lora: ExpandedTuning = { method: 'lora', rank: 4, alpha: 8, target_modules: ['v_proj', 'q_proj'] };
const held = (tuning: ExpandedTuning, kl = 0.5): ExpandedSpec => {
  const spec = tinySpec({ sftSteps: 4, mathSteps: 5, everySteps: 2, math: { kl, lr: 1e-2 } });
  return { ...spec, model: { ...spec.model, tuning } };
};

describe.each([
  ['the whole model', { method: 'full' } as const],
  ['adapters', lora],
])('held to a reference, training %s', (_, tuning) => {
  test('resumes with the same bits from every checkpoint within the stage', async () => {
    const whole = await run(held(tuning));
    expect(whole.kls[0]!).toBeLessThan(1e-10);
    expect(whole.kls.at(-1)!).toBeGreaterThan(1e-6);
    const within = whole.kept.filter(({ point, kind }) => point.stageIndex === 1 && kind === 'step');
    expect(within.map(({ point }) => point.step)).toEqual([2, 4]);
    for (const { at, point } of within) {
      const resumed = await run(held(tuning), at);
      expect(resumed.trained).toEqual(whole.trained);
      expect(resumed.kls).toEqual(whole.kls.slice(point.step));
    }
  });

  test('has it in the checkpoints within the stage, listed with its hash, and in no other', async () => {
    const { kept } = await run(held(tuning));
    for (const { at, point, kind } of kept) {
      const { manifest } = await openCheckpoint(at);
      const listed = manifest.files.some(({ name }) => name === referenceName);
      expect(listed).toBe(point.stageIndex === 1 && kind === 'step');
    }
    // What the stage began with: the weights, or the adapters, of the end of the one before.
    const before = await openCheckpoint(kept.find(({ kind }) => kind === 'stage_end')!.at);
    const resumed = await openCheckpoint(kept.find(({ point }) => point.stageIndex === 1)!.at);
    const reference = (await resumed.reference())!;
    const names = [...reference.keys()];
    expect(names.every((name) => name.includes('.lora_'))).toBe(tuning.method === 'lora');
    const trained = tuning.method === 'full' ? await before.weights() : undefined;
    if (trained !== undefined) expect(reference).toEqual(trained);
    await appendFile(join(resumed.dir, referenceName), 'x');
    await expect(openCheckpoint(resumed.dir)).rejects.toThrow(referenceName);
  });

  test('a stage without a penalty keeps none', async () => {
    const { kept, kls } = await run(held(tuning, 0));
    expect(kls).toEqual([]);
    for (const { at } of kept) expect(await (await openCheckpoint(at)).reference()).toBeUndefined();
  });
});
