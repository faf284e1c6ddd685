// A job on WebGPU, end to end with real processes: a runner that is told to compute there registers with it, trains, samples
// and commits. On SwiftShader where the machine has no GPU.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startStack } from '../support/stack.ts';
import { tempDir } from '../support/temp-dir.ts';
import { noWebgpu } from '../support/webgpu.ts';
import { followToEnd, lastCheckpoint, tinySpec } from './tiny-job.ts';

describe.skipIf(noWebgpu)(`a job on WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  it('goes from REST to a checkpoint, and says what it computes with', async () => {
    const dir = await tempDir('e2e-webgpu');
    const { VK_DRIVER_FILES, VK_ICD_FILENAMES, MILLRACE_VULKAN_LOADER } = process.env;
    const stack = await startStack({
      dir: dir.path,
      storeUrl: pathToFileURL(join(dir.path, 'store')).href,
      runnerEnv: {
        MILLRACE_ACCELERATOR: 'webgpu',
        MILLRACE_MEMORY_GB: '2',
        VK_DRIVER_FILES,
        VK_ICD_FILENAMES,
        MILLRACE_VULKAN_LOADER,
      },
    });
    try {
      const { client } = stack;
      const spec = await tinySpec(client);
      const [sft, math] = 'stages' in spec ? spec.stages : [];
      const { id } = await client.createJob({
        ...spec,
        stages: [
          { ...sft!, steps: 2 },
          { ...math!, steps: 2 },
        ],
        resources: { accelerator: 'webgpu' },
      } as typeof spec);
      const events = await followToEnd(client, id);
      const { state, reason, message } = await client.job(id);
      expect({ state, reason, message }).toEqual({ state: 'succeeded', reason: null, message: null });
      const bodies = events.map(({ body }) => body);
      expect(bodies.find(({ type }) => type === 'computing')).toMatchObject({ provider: 'webgpu' });
      expect(bodies.filter(({ type }) => type === 'attempt_started')).toHaveLength(1);
      const steps = bodies.flatMap((body) => (body.type === 'step' ? [body] : []));
      expect(steps.map(({ stage, step }) => `${stage} ${step}`)).toEqual([
        'sft 1',
        'sft 2',
        'math 1',
        'math 2',
      ]);
      for (const { metrics } of steps) expect(metrics['update_norm']).toBeGreaterThan(0);
      expect(Math.abs(steps.at(-1)!.metrics['gap_mean']!)).toBeLessThan(1e-3);
      expect(await lastCheckpoint(client, id)).toMatchObject({ stage: 'math', step: 2, kind: 'final' });
    } finally {
      await stack.stop();
      await dir.remove();
    }
  }, 120_000);
});
