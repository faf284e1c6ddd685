import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { addModel } from '../../support/tiny-models.ts';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';
import { deviceCases } from './device-cases.ts';
import { runtimeCases } from './runtime-cases.ts';

const script = (name: string) => join(import.meta.dirname, name);

describe.skipIf(noWebgpu)(`WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  runtimeCases({ name: 'c-api', provider: 'webgpu' }, webgpuRuntime);
  deviceCases(webgpuRuntime);

  it('survives forced collections of everything that its user let go of', () => {
    const args = ['--expose-gc', script('forced-gc.ts'), 'webgpu'];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('survived\n');
  });

  it.each(['alive', 'disposed'])('leaves a process with its exit code, though a run is going: %s', (how) => {
    const args = [script('exit-while-running.ts'), 'webgpu', how];
    const { status, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, signal, stderr }).toEqual({ status: 7, signal: null, stderr: '' });
  });

  it('is what auto takes where there is no CUDA', () => {
    const told: string[] = [];
    const runtime = createRuntime({ threads: 2, provider: 'auto', tell: (message) => told.push(message) });
    expect(runtime.provider).toBe('webgpu');
    expect(told).toEqual([
      expect.stringMatching(/^the cuda provider is not available: /),
      'computing on webgpu',
    ]);
    runtime[Symbol.dispose]();
  });

  it('lets nodes run on the CPU only where that is asked for', async () => {
    const strict = webgpuRuntime();
    await expect(strict.createSession(addModel([2], 'float64'))).rejects.toThrow('fallback to CPU EP');
    strict[Symbol.dispose]();
    const loose = webgpuRuntime({ device: { cpuFallback: true } });
    const add = await loose.createSession(addModel([2], 'float64'));
    const x = loose.tensor('float64', [2], Float64Array.of(0.1, 1e300));
    const binding = add.bind({ x, d: x }, { y: x });
    binding.runSync();
    expect(x.data).toEqual(Float64Array.of(0.2, 2e300));
    for (const object of [binding, x, add, loose]) object[Symbol.dispose]();
  });
});

describe('a provider that cannot be had', () => {
  // In a process of its own: a driver that was found once stays found.
  async function tryWithoutDrivers(
    provider: string,
    loader = '',
  ): Promise<{ error?: string; told: string[]; provider?: string }> {
    const nowhere = { VK_DRIVER_FILES: '/nowhere', VK_ICD_FILENAMES: '/nowhere' };
    const env = { ...process.env, ...nowhere, MILLRACE_VULKAN_LOADER: loader };
    const { stdout } = await promisify(execFile)(process.execPath, [script('without-device.ts'), provider], {
      env,
    });
    return JSON.parse(stdout);
  }

  it('webgpu: no Vulkan loader, or no driver', async () => {
    const { error } = await tryWithoutDrivers('webgpu');
    expect(error).toMatch(
      /^ProviderUnavailable: the webgpu provider is not available: .*Vulkan driver.*libvulkan/,
    );
  });

  it.skipIf(noWebgpu)('webgpu: a loader without a driver', async () => {
    const { error } = await tryWithoutDrivers('webgpu', process.env['MILLRACE_VULKAN_LOADER']);
    expect(error).toContain('the webgpu provider is not available: Failed to get a WebGPU adapter');
  });

  it('cuda: no provider library', async () => {
    const { error } = await tryWithoutDrivers('cuda');
    expect(error).toMatch(/^ProviderUnavailable: the cuda provider is not available: .*NVIDIA driver/);
  });

  it('auto: says why it passes over both, and takes the CPU', async () => {
    const { provider, told } = await tryWithoutDrivers('auto');
    expect(provider).toBe('cpu');
    expect(told).toEqual([
      expect.stringMatching(/^the cuda provider is not available/),
      expect.stringMatching(/^the webgpu provider is not available/),
      'computing on cpu',
    ]);
  });

  it("onnxruntime-node's own binding: any device", () => {
    expect(() => createRuntime({ binding: 'onnxruntime-node', provider: 'webgpu' })).toThrow(
      "onnxruntime-node's own binding computes on the cpu only",
    );
  });
});
