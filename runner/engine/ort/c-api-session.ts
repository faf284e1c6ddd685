// Compiles a model through the C API and reads its signature.
import { addressOf, call, callAsync, release, takeString, type Pointer } from './api.ts';
import type { NativeSession } from './backend.ts';
import { elementType, type ValueInfo } from './signature.ts';
import type { SessionOptions } from './runtime.ts';

const optimizeAll = 99;

/** Compiles on a worker thread; the session uses the threads of `env`. */
export async function compile(
  env: Pointer,
  model: Uint8Array,
  options: SessionOptions,
): Promise<NativeSession<Pointer>> {
  const slot = new BigUint64Array(1);
  const sessionOptions = createOptions(options);
  try {
    await callAsync(
      'CreateSessionFromArray',
      [model, slot],
      env,
      addressOf(model),
      model.byteLength,
      sessionOptions,
      addressOf(slot),
    );
  } finally {
    release('ReleaseSessionOptions', sessionOptions);
  }
  const session = slot[0] as Pointer;
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

function createOptions({ disabledOptimizers = [] }: SessionOptions): Pointer {
  const options = call('CreateSessionOptions');
  try {
    call('DisablePerSessionThreads', options);
    call('SetSessionGraphOptimizationLevel', options, optimizeAll);
    call('AddSessionConfigEntry', options, 'session.use_env_allocators', '1');
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
