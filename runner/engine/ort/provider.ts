// ONNX Runtime's execution providers beside the CPU's: how a session asks for one, and what to say where a machine
// cannot have it. CUDA shares everything but its options; no device has verified it (ADR 0011).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { call, release, type Pointer } from './api.ts';
import { ortLibrary } from './library.ts';
import { OrtError } from './ort-error.ts';
import type { Provider } from './runtime.ts';

export type DeviceProvider = Exclude<Provider, 'cpu'>;

export interface DeviceOptions {
  /** WebGPU: how much of each dispatch is checked; `full` in tests. ONNX Runtime's own default is `basic`. */
  readonly validationMode?: 'disabled' | 'wgpuOnly' | 'basic' | 'full';
  /** Lets nodes without a kernel on the device run on the CPU, their tensors copied to and fro. Default: an error. */
  readonly cpuFallback?: boolean;
}

/** A provider that this machine or this library does not have. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}

/** The name of a provider's own memory. */
export const memoryNames = { webgpu: 'WebGPU_Buf', cuda: 'Cuda' } as const satisfies Record<
  DeviceProvider,
  string
>;

/** Has the session compute on the provider's device. */
export function appendProvider(
  sessionOptions: Pointer,
  provider: DeviceProvider,
  { validationMode, cpuFallback = false }: DeviceOptions,
): void {
  if (!cpuFallback) {
    call('AddSessionConfigEntry', sessionOptions, 'session.disable_cpu_ep_fallback', '1');
  }
  if (provider === 'cuda') appendCuda(sessionOptions);
  else {
    // Off by default for the sake of browsers; indices of TopK and ArgMax need it.
    const enableInt64 = '1';
    appendWebGpu(sessionOptions, {
      enableInt64,
      ...(validationMode === undefined ? {} : { validationMode }),
    });
  }
}

function appendWebGpu(sessionOptions: Pointer, options: Record<string, string>): void {
  const [keys, values] = [Object.keys(options), Object.values(options)];
  call('SessionOptionsAppendExecutionProvider', sessionOptions, 'WebGPU', keys, values, keys.length);
}

function appendCuda(sessionOptions: Pointer): void {
  const options = call('CreateCUDAProviderOptions');
  try {
    call('SessionOptionsAppendExecutionProvider_CUDA_V2', sessionOptions, options);
  } finally {
    release('ReleaseCUDAProviderOptions', options);
  }
}

const remedies = {
  webgpu:
    'it needs a GPU with a Vulkan driver (1.1 or newer) and the Vulkan loader libvulkan.so.1 (Debian: apt-get install ' +
    'libvulkan1 and the driver of your GPU). A loader elsewhere is named by MILLRACE_VULKAN_LOADER, a driver by VK_DRIVER_FILES',
  cuda:
    'it needs an NVIDIA driver, CUDA 12 with cuDNN 9, and libonnxruntime_providers_cuda.so beside the library of ' +
    'onnxruntime-node (its install script fetches that unless ONNXRUNTIME_NODE_INSTALL=skip)',
} as const satisfies Record<DeviceProvider, string>;

/** ONNX Runtime puts source position and function in front of what it has to say. */
const reasonOf = (message: string): string =>
  message.split(' was false. ').at(-1)?.trim().replace(/\s+/g, ' ') ?? message;

/** What the provider needs is looked for first: ONNX Runtime would say less, and print it. */
export function requireLibraries(provider: DeviceProvider): void {
  const { koffi, folder } = ortLibrary();
  if (process.platform !== 'linux') return;
  const cudaProvider = join(folder, 'libonnxruntime_providers_cuda.so');
  if (provider === 'cuda' && !existsSync(cudaProvider)) {
    throw unavailable(provider, `there is no ${cudaProvider}`);
  }
  if (provider !== 'webgpu') return;
  try {
    koffi.load('libvulkan.so.1');
  } catch (cause) {
    throw unavailable(provider, 'there is no Vulkan loader', cause);
  }
}

/** What fails as the first thing that is asked of a provider fails because the machine does not have it. */
export function explainUnavailable<T>(provider: DeviceProvider, first: () => T): T {
  try {
    return first();
  } catch (error) {
    throw error instanceof OrtError ? unavailable(provider, reasonOf(error.message), error) : error;
  }
}

function unavailable(provider: DeviceProvider, reason: string, cause?: unknown): ProviderUnavailable {
  const text = `the ${provider} provider is not available: ${reason}; ${remedies[provider]}`;
  return new ProviderUnavailable(text, { cause });
}
