// The way to ONNX Runtime through its C API: no copies, runs off the calling thread, one thread pool. Sessions of a
// device are in device-backend.ts.
import { call, callAsync, release, type Pointer } from './api.ts';
import type { Backend, Bound, PreparedRun } from './backend.ts';
import { compile } from './c-api-session.ts';
import { ortLibrary } from './library.ts';
import { hostMemory, hostTensor } from './memory.ts';
import { retainEnv } from './ort-env.ts';

const severityFatal = 4;

/** Throws KoffiUnavailable where koffi cannot load, and other errors where the library does not fit. */
export function createCApiBackend(threads: number): Backend<Pointer, Pointer> {
  const { version } = ortLibrary();
  const env = retainEnv(threads);
  const memoryInfo = hostMemory();
  const runOptions = createRunOptions();
  return {
    name: 'c-api',
    provider: 'cpu',
    version,
    threads,
    createTensor: (dtype, dims, data) => hostTensor(memoryInfo, dtype, dims, data),
    createSession: (model, options) => compile({ env: env.value }, model, options),
    prepare: (bound) => prepareRun(runOptions, bound),
    release() {
      release('ReleaseRunOptions', runOptions);
      release('ReleaseMemoryInfo', memoryInfo);
      env.release();
    },
  };
}

// A failed run is thrown with ONNX Runtime's message; its log would only say it again.
export function createRunOptions(): Pointer {
  const options = call('CreateRunOptions');
  call('RunOptionsSetRunLogSeverityLevel', options, severityFatal);
  return options;
}

function prepareRun(runOptions: Pointer, { session, inputs, outputs }: Bound<Pointer, Pointer>): PreparedRun {
  const binding = call('CreateIoBinding', session);
  try {
    for (const { name, tensor } of inputs) call('BindInput', binding, name, tensor.value);
    for (const { name, tensor } of outputs) call('BindOutput', binding, name, tensor.value);
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
