// A compiled model behind the C API: its signature, and bindings of tensors to it.
import { call, callAsync, release, takeString, addressOf, type Pointer } from './api.ts';
import { createBinding } from './native-binding.ts';
import { NativeHandle } from './native-handle.ts';
import { NativeTensor } from './native-tensor.ts';
import { OrtError } from './ort-error.ts';
import { elementType, matchTensors, type ValueInfo } from './signature.ts';
import type { Binding, Session, SessionOptions, Tensor } from './runtime.ts';

const optimizeAll = 99;

/** Counters of live native objects, kept by the runtime. */
export interface LiveCounts {
  sessions: number;
  tensors: number;
  bindings: number;
}

export class NativeSession implements Session {
  readonly label: string;
  readonly handle: NativeHandle;
  readonly #inputs: readonly ValueInfo[];
  readonly #outputs: readonly ValueInfo[];
  readonly #live: LiveCounts;
  #disposed = false;

  constructor(label: string, handle: NativeHandle, live: LiveCounts) {
    this.label = label;
    this.handle = handle;
    this.#live = live;
    this.#inputs = readSignature(handle.pointer, 'Input');
    this.#outputs = readSignature(handle.pointer, 'Output');
  }

  get inputNames(): readonly string[] {
    return this.#inputs.map(({ name }) => name);
  }

  get outputNames(): readonly string[] {
    return this.#outputs.map(({ name }) => name);
  }

  bind(inputs: Record<string, Tensor>, outputs: Record<string, Tensor>): Binding {
    this.assertLive();
    return createBinding(this, this.#live, {
      inputs: matchTensors(this.label, 'input', this.#inputs, inputs, ownTensor),
      outputs: matchTensors(this.label, 'output', this.#outputs, outputs, ownTensor),
    });
  }

  assertLive(): void {
    if (this.#disposed) throw new Error(`${this.label}: the session was disposed`);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.handle.release();
  }
}

function ownTensor(tensor: Tensor, what: string): NativeTensor {
  if (!(tensor instanceof NativeTensor)) {
    throw new TypeError(`${what} was not made by this runtime's tensor()`);
  }
  if (tensor.disposed) throw new Error(`${what}: ${tensor.toString()} was disposed`);
  return tensor;
}

/** Compiles on a worker thread. The session holds `env` until its native object is gone. */
export async function createNativeSession(
  env: NativeHandle,
  live: LiveCounts,
  model: Uint8Array,
  options: SessionOptions,
): Promise<NativeSession> {
  const label = options.label ?? 'session';
  const slot = new BigUint64Array(1);
  const sessionOptions = createOptions(options);
  env.retain();
  try {
    await callAsync(
      'CreateSessionFromArray',
      [model, slot],
      env.pointer,
      addressOf(model),
      model.byteLength,
      sessionOptions,
      addressOf(slot),
    );
  } catch (error) {
    env.release();
    throw error instanceof OrtError ? error.about(label) : error;
  } finally {
    release('ReleaseSessionOptions', sessionOptions);
  }
  live.sessions += 1;
  const handle = new NativeHandle('ReleaseSession', slot[0] as Pointer, () => {
    live.sessions -= 1;
    env.release();
  });
  return new NativeSession(label, handle, live);
}

function createOptions({ disabledOptimizers = [] }: SessionOptions): Pointer {
  const options = call('CreateSessionOptions');
  try {
    call('DisablePerSessionThreads', options);
    call('SetSessionGraphOptimizationLevel', options, optimizeAll);
    if (disabledOptimizers.length > 0) {
      const names = disabledOptimizers.join(';');
      call('AddSessionConfigEntry', options, 'optimization.disable_specified_optimizers', names);
    }
    return options;
  } catch (error) {
    release('ReleaseSessionOptions', options);
    throw error;
  }
}

function readSignature(session: Pointer, kind: 'Input' | 'Output'): ValueInfo[] {
  const allocator = call('GetAllocatorWithDefaultOptions');
  const count = Number(call(`SessionGet${kind}Count`, session));
  return Array.from({ length: count }, (_, index) => {
    const name = takeString(allocator, call(`SessionGet${kind}Name`, session, index, allocator));
    const typeInfo = call(`SessionGet${kind}TypeInfo`, session, index);
    try {
      return { name, ...readType(typeInfo) };
    } finally {
      release('ReleaseTypeInfo', typeInfo);
    }
  });
}

function readType(typeInfo: Pointer): Pick<ValueInfo, 'dtype' | 'dims'> {
  const tensorInfo = call('CastTypeInfoToTensorInfo', typeInfo);
  if (tensorInfo === 0n) return { dtype: 'no tensor', dims: undefined };
  const rank = Number(call('GetDimensionsCount', tensorInfo));
  const dims = new BigInt64Array(rank);
  call('GetDimensions', tensorInfo, dims, rank);
  return {
    dtype: elementType(Number(call('GetTensorElementType', tensorInfo))),
    dims: Array.from(dims, (dim) => (dim < 0n ? undefined : Number(dim))),
  };
}
