// Compiles a model through the C API and reads its signature.
import { addressOf, call, callAsync, release, takeString, type Pointer } from './api.ts';
import type { NativeSession } from './backend.ts';
import { appendProvider, type DeviceOptions, type DeviceProvider } from './provider.ts';
import type { SessionOptions } from './runtime.ts';
import { elementType, type ValueInfo } from './signature.ts';

const optimizeAll = 99;

/** Where a session's threads come from, and where it computes: on the CPU where no device is named. */
export interface Target {
  readonly env: Pointer;
  readonly device?: { readonly provider: DeviceProvider; readonly options: DeviceOptions };
}

/** Compiles on a worker thread; the session uses the threads of the target's environment. */
export async function compile(
  target: Target,
  model: Uint8Array,
  options: SessionOptions,
): Promise<NativeSession<Pointer>> {
  const slot = new BigUint64Array(1);
  const sessionOptions = createOptions(target, options);
  try {
    const pinned = [model, slot];
    await callAsync('CreateSessionFromArray', pinned, ...creation(target, model, sessionOptions, slot));
  } finally {
    release('ReleaseSessionOptions', sessionOptions);
  }
  return compiled(slot[0] as Pointer);
}

/** Same on this thread, for small models. */
export function compileSync(target: Target, model: Uint8Array): NativeSession<Pointer> {
  const slot = new BigUint64Array(1);
  const sessionOptions = createOptions(target, {});
  try {
    call('CreateSessionFromArray', ...creation(target, model, sessionOptions, slot));
  } finally {
    release('ReleaseSessionOptions', sessionOptions);
  }
  return compiled(slot[0] as Pointer);
}

const creation = ({ env }: Target, model: Uint8Array, sessionOptions: Pointer, slot: BigUint64Array) =>
  [env, addressOf(model), model.byteLength, sessionOptions, addressOf(slot)] as [
    Pointer,
    Pointer | null,
    number,
    Pointer,
    Pointer | null,
  ];

function compiled(session: Pointer): NativeSession<Pointer> {
  try {
    return {
      value: session,
      inputs: readSignature(session, 'Input'),
      outputs: readSignature(session, 'Output'),
      release: () => release('ReleaseSession', session),
    };
  } catch (error) {
    release('ReleaseSession', session);
    throw error;
  }
}

function createOptions({ device }: Target, { disabledOptimizers = [] }: SessionOptions): Pointer {
  const options = call('CreateSessionOptions');
  try {
    call('DisablePerSessionThreads', options);
    call('SetSessionGraphOptimizationLevel', options, optimizeAll);
    call('AddSessionConfigEntry', options, 'session.use_env_allocators', '1');
    if (disabledOptimizers.length > 0) {
      const names = disabledOptimizers.join(';');
      call('AddSessionConfigEntry', options, 'optimization.disable_specified_optimizers', names);
    }
    if (device !== undefined) appendProvider(options, device.provider, device.options);
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
