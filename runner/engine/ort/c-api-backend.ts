// The way to ONNX Runtime through its C API: no copies, runs off the calling thread, one thread pool.
import { addressOf, call, callAsync, release, type Pointer } from './api.ts';
import type { Backend, BoundValue, PreparedRun } from './backend.ts';
import { compile } from './c-api-session.ts';
import { ortLibrary } from './library.ts';
import { retainEnv } from './ort-env.ts';
import { elementCode } from './signature.ts';

const deviceAllocator = 0;
const memTypeDefault = 0;
const severityFatal = 4;

// An empty tensor has no memory, but ONNX Runtime wants an address.
const nowhere = new BigInt64Array(1);

/** Throws KoffiUnavailable where koffi cannot load, and other errors where the library does not fit. */
export function createCApiBackend(threads: number): Backend<Pointer, Pointer> {
  const { version } = ortLibrary();
  const env = retainEnv(threads);
  const memoryInfo = call('CreateCpuMemoryInfo', deviceAllocator, memTypeDefault);
  const runOptions = createRunOptions();
  return {
    name: 'c-api',
    version,
    threads,
    createValue(dtype, dims, data) {
      const value = call(
        'CreateTensorWithDataAsOrtValue',
        memoryInfo,
        addressOf(data) ?? addressOf(nowhere),
        data.byteLength,
        BigInt64Array.from(dims, BigInt),
        dims.length,
        elementCode(dtype),
      );
      return { value, release: () => release('ReleaseValue', value) };
    },
    createSession: (model, options) => compile(env.value, model, options),
    prepare: (...bound) => prepareRun(runOptions, ...bound),
    release() {
      release('ReleaseRunOptions', runOptions);
      release('ReleaseMemoryInfo', memoryInfo);
      env.release();
    },
  };
}

// A failed run is thrown with ONNX Runtime's message; its log would only say it again.
function createRunOptions(): Pointer {
  const options = call('CreateRunOptions');
  call('RunOptionsSetRunLogSeverityLevel', options, severityFatal);
  return options;
}

function prepareRun(
  runOptions: Pointer,
  session: Pointer,
  inputs: readonly BoundValue<Pointer>[],
  outputs: readonly BoundValue<Pointer>[],
): PreparedRun {
  const binding = call('CreateIoBinding', session);
  try {
    for (const { name, value } of inputs) call('BindInput', binding, name, value);
    for (const { name, value } of outputs) call('BindOutput', binding, name, value);
  } catch (error) {
    release('ReleaseIoBinding', binding);
    throw error;
  }
  const pinned = [inputs, outputs];
  return {
    run: () => callAsync('RunWithBinding', pinned, session, runOptions, binding),
    runSync: () => call('RunWithBinding', session, runOptions, binding),
    release: () => release('ReleaseIoBinding', binding),
  };
}
