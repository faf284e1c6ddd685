// Typed calls of ONNX Runtime's C API. An argument list is written once, in C's order; a trailing
// 'out' becomes the result. A status that is not OK becomes an OrtError and is released.
import type { KoffiFunc } from 'koffi';
import { ortLibrary } from './library.ts';
import { errorCode, OrtError } from './ort-error.ts';

export type Pointer = bigint;

/** Kinds of C arguments: opaque pointer, NUL-terminated string, several of them, enum or int, size_t, memory of a typed array. */
interface Kinds {
  ptr: Pointer | null;
  str: string;
  strs: readonly string[];
  int: number;
  size: number;
  mem: ArrayBufferView;
}

const cTypes = {
  ptr: 'void *',
  str: 'str',
  strs: 'const char **',
  int: 'int',
  size: 'size_t',
  mem: 'void *',
  out: 'void *',
} as const;

const signatures = {
  CreateThreadingOptions: ['out'],
  SetGlobalIntraOpNumThreads: ['ptr', 'int'],
  SetGlobalInterOpNumThreads: ['ptr', 'int'],
  SetGlobalSpinControl: ['ptr', 'int'],
  CreateEnvWithGlobalThreadPools: ['int', 'str', 'ptr', 'out'],
  CreateAndRegisterAllocator: ['ptr', 'ptr', 'ptr'],
  CreateSessionOptions: ['out'],
  DisablePerSessionThreads: ['ptr'],
  SetSessionGraphOptimizationLevel: ['ptr', 'int'],
  SessionOptionsAppendExecutionProvider: ['ptr', 'str', 'strs', 'strs', 'size'],
  CreateCUDAProviderOptions: ['out'],
  SessionOptionsAppendExecutionProvider_CUDA_V2: ['ptr', 'ptr'],
  AddSessionConfigEntry: ['ptr', 'str', 'str'],
  CreateSessionFromArray: ['ptr', 'ptr', 'size', 'ptr', 'ptr'],
  SessionGetInputCount: ['ptr', 'out'],
  SessionGetOutputCount: ['ptr', 'out'],
  SessionGetInputName: ['ptr', 'size', 'ptr', 'out'],
  SessionGetOutputName: ['ptr', 'size', 'ptr', 'out'],
  SessionGetInputTypeInfo: ['ptr', 'size', 'out'],
  SessionGetOutputTypeInfo: ['ptr', 'size', 'out'],
  CastTypeInfoToTensorInfo: ['ptr', 'out'],
  GetTensorElementType: ['ptr', 'out'],
  GetDimensionsCount: ['ptr', 'out'],
  GetDimensions: ['ptr', 'mem', 'size'],
  GetAllocatorWithDefaultOptions: ['out'],
  CreateMemoryInfo: ['str', 'int', 'int', 'int', 'out'],
  CreateAllocator: ['ptr', 'ptr', 'out'],
  AllocatorAlloc: ['ptr', 'size', 'out'],
  AllocatorFree: ['ptr', 'ptr'],
  CreateCpuMemoryInfo: ['int', 'int', 'out'],
  CreateTensorWithDataAsOrtValue: ['ptr', 'ptr', 'size', 'mem', 'size', 'int', 'out'],
  CreateRunOptions: ['out'],
  RunOptionsSetRunLogSeverityLevel: ['ptr', 'int'],
  CreateIoBinding: ['ptr', 'out'],
  BindInput: ['ptr', 'str', 'ptr'],
  BindOutput: ['ptr', 'str', 'ptr'],
  RunWithBinding: ['ptr', 'ptr', 'ptr'],
} as const satisfies Record<string, readonly (keyof typeof cTypes)[]>;

type FunctionName = keyof typeof signatures;
type ReleaseName =
  | 'ReleaseThreadingOptions'
  | 'ReleaseEnv'
  | 'ReleaseSessionOptions'
  | 'ReleaseSession'
  | 'ReleaseTypeInfo'
  | 'ReleaseMemoryInfo'
  | 'ReleaseValue'
  | 'ReleaseRunOptions'
  | 'ReleaseIoBinding'
  | 'ReleaseAllocator'
  | 'ReleaseCUDAProviderOptions';

type In<S extends readonly unknown[]> = S extends readonly [...infer Head, 'out'] ? Head : S;
type Arguments<S extends readonly unknown[]> = {
  -readonly [I in keyof S]: S[I] extends keyof Kinds ? Kinds[S[I]] : never;
};
type Result<S extends readonly unknown[]> = S extends readonly [...unknown[], 'out'] ? Pointer : undefined;
type Signature<N extends FunctionName> = (typeof signatures)[N];

type NativeFunction = KoffiFunc<(...args: any[]) => any>;

const functions = new Map<string, NativeFunction>();

function native(name: string, result: string, args: readonly string[]): NativeFunction {
  const { koffi, pointer } = ortLibrary();
  const found = koffi.decode(pointer(name), koffi.proto(result, [...args])) as NativeFunction;
  functions.set(name, found);
  return found;
}

function nativeCall(name: FunctionName): NativeFunction {
  const known = functions.get(name);
  if (known !== undefined) return known;
  const args = signatures[name].map((kind) => cTypes[kind]);
  return native(name, 'void *', args);
}

function nativeOfPointer(name: string, result: string): NativeFunction {
  return functions.get(name) ?? native(name, result, ['void *']);
}

// Memory that synchronous calls write their out argument to. Calls do not nest.
const out = new BigUint64Array(1);

/** Calls a function on this thread; returns its out argument, if it has one, as 64 bits. */
export function call<N extends FunctionName>(
  name: N,
  ...args: Arguments<In<Signature<N>>>
): Result<Signature<N>> {
  const kinds: readonly string[] = signatures[name];
  if (kinds.at(-1) !== 'out') {
    throwIfFailed(name, nativeCall(name)(...args));
    return undefined as Result<Signature<N>>;
  }
  out[0] = 0n;
  throwIfFailed(name, nativeCall(name)(...args, out));
  return out[0] as Result<Signature<N>>;
}

// What native code reads or writes during an asynchronous call must not be collected before its end.
const inFlight = new Set<readonly unknown[]>();

/** Calls a function on a worker thread. `pinned` is kept alive until it ends, whatever the caller drops. */
export function callAsync<N extends 'CreateSessionFromArray' | 'RunWithBinding' | 'BindInput'>(
  name: N,
  pinned: readonly unknown[],
  ...args: Arguments<Signature<N>>
): Promise<void> {
  return new Promise((resolve, reject) => {
    inFlight.add(pinned);
    nativeCall(name).async(...args, (error: unknown, status: Pointer | null) => {
      inFlight.delete(pinned);
      try {
        if (error !== null && error !== undefined) throw error;
        throwIfFailed(name, status);
        resolve();
      } catch (failure) {
        reject(failure as Error);
      }
    });
  });
}

export function release(name: ReleaseName, pointer: Pointer): void {
  nativeOfPointer(name, 'void')(pointer);
}

function throwIfFailed(name: string, status: Pointer | null): void {
  if (status === null) return;
  const code = nativeOfPointer('GetErrorCode', 'int')(status) as number;
  const message = nativeOfPointer('GetErrorMessage', 'str')(status) as string;
  nativeOfPointer('ReleaseStatus', 'void')(status);
  throw new OrtError(errorCode(code), `${name} failed: ${message}`);
}

/** Copies a string that ONNX Runtime allocated, and frees it. */
export function takeString(allocator: Pointer, text: Pointer): string {
  try {
    return ortLibrary().koffi.decode.string(text);
  } finally {
    call('AllocatorFree', allocator, text);
  }
}

/** Address of a view's first byte; null for an empty one. The memory of a view never moves, but the caller keeps it alive. */
export function addressOf(view: ArrayBufferView): Pointer | null {
  return view.byteLength === 0 ? null : ortLibrary().koffi.address(view);
}
