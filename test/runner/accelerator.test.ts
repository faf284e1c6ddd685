// What a runner finds out before it registers: real probes in real children. A machine without drivers is made by naming
// ones that do not exist.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findAccelerator } from '../../runner/supervisor/accelerator.ts';
import { SettingsError } from '../../runner/supervisor/settings.ts';
import { cleanEnv } from '../cli/run-cli.ts';
import { noWebgpu } from '../support/webgpu.ts';

const bare = {
  ...process.env,
  VK_DRIVER_FILES: '/nowhere',
  VK_ICD_FILENAMES: '/nowhere',
  MILLRACE_VULKAN_LOADER: '',
};
const main = join(import.meta.dirname, '../../runner/main.ts');

function runMain(env: NodeJS.ProcessEnv): Promise<{ code: number; stderr: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [main], { env }, (error, _, stderr) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, stderr });
    });
  });
}

describe('an accelerator', () => {
  it('cpu: is there, and nothing is asked', async () => {
    expect(await findAccelerator('cpu', {})).toEqual({ accelerator: 'cpu', told: [] });
  });

  it('auto without any device: the cpu, and why nothing else', async () => {
    const { accelerator, told } = await findAccelerator('auto', bare);
    expect(accelerator).toBe('cpu');
    expect(told).toEqual([
      expect.stringMatching(/^the cuda provider is not available/),
      expect.stringMatching(/^the webgpu provider is not available/),
      'computing on cpu',
      'products are of float32',
    ]);
  });

  it('that cannot be had: an error with the reason and what to do', async () => {
    const asking = findAccelerator('webgpu', bare);
    await expect(asking).rejects.toThrow(SettingsError);
    await expect(asking).rejects.toThrow(
      /MILLRACE_ACCELERATOR: the webgpu provider is not available.*Vulkan/s,
    );
  });

  it('ends the runner before it registers', async () => {
    const { VK_DRIVER_FILES, VK_ICD_FILENAMES } = bare;
    const { code, stderr } = await runMain({
      ...cleanEnv(),
      VK_DRIVER_FILES,
      VK_ICD_FILENAMES,
      MILLRACE_URL: 'http://127.0.0.1:1',
      MILLRACE_RUNNER_TOKEN: 'token',
      STORE_URL: 'file:///store',
      MILLRACE_ACCELERATOR: 'webgpu',
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^the runner cannot start:\n {2}MILLRACE_ACCELERATOR: the webgpu provider/);
  });

  it('whose probe says nothing in time', async () => {
    await expect(findAccelerator('auto', bare, 1)).rejects.toThrow(
      /asking for auto ended with SIG(?:TERM|KILL), for want of an answer in 0.001 s/,
    );
  });

  it('whose libraries do not load: an error that names the setting', async () => {
    const env = { ...bare, MILLRACE_VULKAN_LOADER: '/nowhere.so' };
    for (const wanted of ['webgpu', 'auto'] as const)
      await expect(findAccelerator(wanted, env)).rejects.toThrow(
        'MILLRACE_ACCELERATOR: MILLRACE_VULKAN_LOADER is /nowhere.so, which does not load',
      );
  });

  it.skipIf(noWebgpu)('auto with WebGPU: takes it', async () => {
    const { accelerator, told } = await findAccelerator('auto', process.env);
    expect(accelerator).toBe('webgpu');
    expect(told).toContain('computing on webgpu');
    expect(told.at(-1)).toMatch(/^products are of float(16|32)$/);
  });
});
