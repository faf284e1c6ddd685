// The way to ONNX Runtime's C API for sessions that compute on a device: WebGPU or CUDA. What differs from the CPU's
// (c-api-backend.ts): tensors can lie in device memory, every session excludes the CPU unless asked otherwise, and
// compilations, runs and copies take turns.
import { release, type Pointer } from './api.ts';
import type { Backend, DeviceMemory } from './backend.ts';
import { createRunOptions } from './c-api-backend.ts';
import { compile, compileSync, type Target } from './c-api-session.ts';
import { DeviceCopy } from './device-copy.ts';
import { useDevice } from './device-exit.ts';
import { DeviceHeap, type DeviceBuffer } from './device-heap.ts';
import { DevicePlace } from './device-memory.ts';
import { DeviceRun } from './device-run.ts';
import { byteLength } from './host-data.ts';
import { ortLibrary } from './library.ts';
import { hostMemory, hostTensor } from './memory.ts';
import { retainEnv } from './ort-env.ts';
import {
  explainUnavailable,
  memoryNames,
  requireLibraries,
  type DeviceOptions,
  type DeviceProvider,
} from './provider.ts';
import type { DType } from './runtime.ts';
import { Scope } from './scope.ts';
import { Turns } from './turns.ts';
import { lowerForWebgpu } from './webgpu-lowering.ts';

/** Throws ProviderUnavailable where this machine or library has no such device. */
export function createDeviceBackend(
  threads: number,
  provider: DeviceProvider,
  options: DeviceOptions,
): Backend<Pointer, Pointer> {
  const { version } = ortLibrary();
  requireLibraries(provider);
  const scope = new Scope();
  const owning = <T>(value: T, end: (value: T) => void): T => {
    scope.own({ [Symbol.dispose]: () => end(value) });
    return value;
  };
  try {
    const env = owning(retainEnv(threads), (handle) => handle.release());
    owning(useDevice(), (stopUsing) => stopUsing());
    const target: Target = { env: env.value, device: { provider, options } };
    const memoryInfo = owning(hostMemory(), (info) => release('ReleaseMemoryInfo', info));
    const runOptions = owning(createRunOptions(), (one) => release('ReleaseRunOptions', one));
    const copy = explainUnavailable(provider, () =>
      owning(new DeviceCopy((model) => compileSync(target, model), runOptions), (one) => one.release()),
    );
    const heap = owning(new DeviceHeap(copy.session, memoryNames[provider]), (one) => one.release());
    const turns = new Turns();
    const context = { turns, heap, runOptions };
    return {
      name: 'c-api',
      provider,
      version,
      threads,
      createTensor: (dtype, dims, data) => hostTensor(memoryInfo, dtype, dims, data),
      allocate: (dtype, dims) => allocate(dtype, dims, { copy, turns, heap }),
      createSession: (model, sessionOptions) =>
        turns.inTurn(async () => {
          const runnable = provider === 'webgpu' ? lowerForWebgpu(model) : model;
          const session = await compile(target, runnable, sessionOptions);
          return { ...session, release: () => turns.whenIdle(() => session.release()) };
        }),
      prepare: (bound) => new DeviceRun(bound, context),
      release: () => turns.whenIdle(() => scope[Symbol.dispose]()),
    };
  } catch (error) {
    scope[Symbol.dispose]();
    throw error;
  }
}

interface Parts {
  readonly copy: DeviceCopy;
  readonly turns: Turns;
  readonly heap: DeviceHeap;
}

function allocate(
  dtype: DType,
  dims: readonly number[],
  { copy, turns, heap }: Parts,
): DeviceMemory<Pointer> {
  const bytes = byteLength(dtype, dims);
  const giveBack = (buffer: DeviceBuffer): void => heap.giveBack(buffer);
  return new DevicePlace(dtype, dims, bytes, heap.lend(bytes), { copy, turns, giveBack });
}
