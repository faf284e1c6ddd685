// A GPU for tests of the WebGPU provider. Where the machine names none, SwiftShader serves: a Vulkan driver that runs on
// the CPU, fetched by infra/swiftshader/install.sh. Importing this file chooses the driver for the process and its children.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type RuntimeOptions } from '../../runner/engine/ort/create.ts';
import { ProviderUnavailable } from '../../runner/engine/ort/provider.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';

/** Every dispatch is checked: a kernel that writes what it reads, or reads past a buffer, is an error. */
export const checkedDevice = { validationMode: 'full' } as const;

/** A runtime on WebGPU. Where `noWebgpu` is set this throws. */
export const webgpuRuntime = (options: RuntimeOptions = {}): Runtime =>
  createRuntime({ provider: 'webgpu', device: checkedDevice, threads: 2, ...options });

/** Why there is no WebGPU on this machine, or false: for `describe.skipIf(noWebgpu)`. */
export const noWebgpu: string | false = whyNoWebgpu();

function whyNoWebgpu(): string | false {
  chooseSwiftShader();
  try {
    webgpuRuntime()[Symbol.dispose]();
    return false;
  } catch (error) {
    if (error instanceof ProviderUnavailable) return error.message;
    throw error;
  }
}

function chooseSwiftShader(): void {
  const { env } = process;
  if (env['VK_DRIVER_FILES'] !== undefined || env['VK_ICD_FILENAMES'] !== undefined) return;
  const folder = join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'millrace/swiftshader');
  const driver = join(folder, 'vk_swiftshader_icd.json');
  if (!existsSync(driver)) return;
  env['VK_DRIVER_FILES'] = driver;
  env['VK_ICD_FILENAMES'] = driver; // the name that older loaders know
  env['MILLRACE_VULKAN_LOADER'] ??= join(folder, 'libvulkan.so.1');
}
