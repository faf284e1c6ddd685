// What a runner says of its memory: what it is told, else what can be found out, else it does not start.
import { chmodSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceleratorMemoryGb } from '../../runner/supervisor/memory.ts';
import { readSettings, settledOn, SettingsError } from '../../runner/supervisor/settings.ts';
import type { Settings } from '../../runner/supervisor/settings.ts';
import { tempDir } from '../support/temp-dir.ts';

const none = { languages: [], missing: {} };
const needed = {
  MILLRACE_URL: 'http://127.0.0.1:1',
  MILLRACE_RUNNER_TOKEN: 'token',
  STORE_URL: 'file:///store',
};

/** Of a runner that has what it is told to compute on. */
function settled(variables: NodeJS.ProcessEnv): Settings {
  const asked = readSettings(variables);
  return settledOn(asked.accelerator === 'auto' ? 'cpu' : asked.accelerator, none, asked);
}

describe('memory', () => {
  it('of cpu is RAM in 10^9 bytes, or the limit of the container', () => {
    const { memoryGb } = settled(needed);
    expect(memoryGb).toBeGreaterThan(0);
    expect(memoryGb).toBeLessThanOrEqual(totalmem() / 1e9);
    expect(settled({ ...needed, MILLRACE_MEMORY_GB: '3.5' }).memoryGb).toBe(3.5);
  });

  it('of NVIDIA devices is that of the smallest, counted in MiB', async () => {
    const dir = await tempDir('nvidia');
    const tool = join(dir.path, 'tool');
    const answering = (text: string): number | undefined => {
      writeFileSync(tool, `#!/bin/sh\nprintf '${text}'\n`);
      chmodSync(tool, 0o755);
      return acceleratorMemoryGb('cuda', tool);
    };
    expect(answering('81559\\n24564\\n')).toBe(25.7);
    expect(answering('[N/A]\\n')).toBeUndefined();
    expect(acceleratorMemoryGb('webgpu', join(dir.path, 'absent'))).toBeUndefined();
    await dir.remove();
  });

  it('that cannot be found out must be set', () => {
    const webgpu = { ...needed, MILLRACE_ACCELERATOR: 'webgpu' };
    expect(settled({ ...webgpu, MILLRACE_MEMORY_GB: '8' }).memoryGb).toBe(8);
    const without = { ...webgpu, PATH: '' };
    if (acceleratorMemoryGb('webgpu') === undefined)
      expect(() => settled(without)).toThrow(/MILLRACE_MEMORY_GB.*webgpu/s);
    else expect(settled(without).memoryGb).toBeGreaterThan(0);
  });
});

describe('model roots', () => {
  it('are absolute directories; of a store in a folder its pushed models, else none unless set', () => {
    const bucket = { ...needed, STORE_URL: 's3://bucket' };
    expect(readSettings(bucket).modelRoots).toEqual([]);
    expect(readSettings({ ...bucket, MILLRACE_MODEL_ROOTS: '/a:/b/c' }).modelRoots).toEqual(['/a', '/b/c']);
    expect(readSettings({ ...needed, STORE_URL: 'file:///store' }).modelRoots).toEqual(['/store/models']);
    expect(() => readSettings({ ...needed, MILLRACE_MODEL_ROOTS: 'models' })).toThrow(SettingsError);
  });
});

it.each(['', 'nonsense', 's3://', 'file://host/x', 'file:///%zz'])(
  'STORE_URL %j is refused by name',
  (url) => {
    expect(() => readSettings({ ...needed, STORE_URL: url })).toThrow(/STORE_URL: must look like/);
  },
);
