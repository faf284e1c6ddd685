// The way to ONNX Runtime through onnxruntime-node's own binding, for machines where koffi cannot
// load. That binding blocks the calling thread and allocates every output anew; the results are
// then copied into the bound tensors.
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type * as ortModule from 'onnxruntime-node';
import type * as bindingModule from 'onnxruntime-node/dist/binding.js';
import type { Backend, Bound, NativeSession, PreparedRun } from './backend.ts';
import { ortVersion } from './library.ts';
import { OrtError } from './ort-error.ts';
import { elementType, type ValueInfo } from './signature.ts';
import type { SessionOptions, TensorData } from './runtime.ts';

type OrtTensor = ortModule.Tensor;
type OrtSession = bindingModule.Binding.InferenceSession;

const require = createRequire(import.meta.url);

/** onnxruntime-node and its synchronous layer, loaded at need: they are idle where the C API serves. */
function loadBinding(): Pick<typeof ortModule, 'Tensor'> & Pick<typeof bindingModule, 'binding'> {
  const { Tensor, env } = require('onnxruntime-node') as typeof ortModule;
  const layer = require('onnxruntime-node/dist/binding.js') as typeof bindingModule;
  env.logLevel = 'error';
  layer.initOrt();
  return { Tensor, binding: layer.binding };
}

export function createNodeBackend(threads: number): Backend<OrtTensor, OrtSession> {
  const { binding, Tensor } = loadBinding();
  return {
    name: 'onnxruntime-node',
    provider: 'cpu',
    version: ortVersion,
    threads,
    createTensor(dtype, dims, data) {
      if (dtype === 'bfloat16') {
        throw new TypeError("onnxruntime-node's own binding has no bfloat16 tensors: the C API has them");
      }
      return { value: new Tensor(dtype, data as Float32Array, dims), data, release: () => undefined };
    },
    async createSession(model, options) {
      await setImmediate();
      return loadSession(new binding.InferenceSession(), model, threads, options);
    },
    prepare: prepareRun,
    release: () => undefined,
  };
}

function loadSession(
  session: OrtSession,
  model: Uint8Array,
  threads: number,
  { disabledOptimizers = [] }: SessionOptions,
): NativeSession<OrtSession> {
  const optimization =
    disabledOptimizers.length === 0
      ? {}
      : { optimization: { disable_specified_optimizers: disabledOptimizers.join(';') } };
  failingAs('loadModel', () =>
    session.loadModel(model.buffer as ArrayBuffer, model.byteOffset, model.byteLength, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
      extra: { session: { intra_op: { allow_spinning: '0' } }, ...optimization },
    }),
  );
  return {
    value: session,
    inputs: session.inputMetadata.map(valueInfo),
    outputs: session.outputMetadata.map(valueInfo),
    release: () => session.dispose(),
  };
}

// A failed run is thrown with ONNX Runtime's message; its log would only say it again.
const runOptions = { logSeverityLevel: 4 } as const;

function prepareRun({ session, inputs, outputs }: Bound<OrtTensor, OrtSession>): PreparedRun {
  const feeds = Object.fromEntries(inputs.map(({ name, tensor }) => [name, tensor.value]));
  const fetches = Object.fromEntries(outputs.map(({ name }) => [name, null]));
  const runSync = () => {
    const results = failingAs('run', () => session.run(feeds, fetches, runOptions));
    for (const { name, tensor } of outputs) {
      copyResult(name, tensor.value, tensor.data as TensorData, results[name] as OrtTensor);
    }
  };
  return {
    async run() {
      await setImmediate();
      runSync();
    },
    runSync,
    release: () => undefined,
  };
}

function copyResult(name: string, bound: OrtTensor, data: TensorData, result: OrtTensor): void {
  if (result.dims.join() !== bound.dims.join()) {
    const shapes = `the result is [${result.dims.join(', ')}], the bound tensor [${bound.dims.join(', ')}]`;
    throw new OrtError('INVALID_ARGUMENT', `run failed: output ${name}: ${shapes}`);
  }
  data.set(result.data as never);
}

function valueInfo({ name, isTensor, type, shape }: bindingModule.Binding.ValueMetadata): ValueInfo {
  if (!isTensor) return { name, dtype: 'no tensor', dims: undefined };
  return {
    name,
    dtype: elementType(type),
    dims: shape.map((dim) => (dim < 0 ? undefined : dim)),
  };
}

// The binding gives ONNX Runtime's message, not its code.
function failingAs<T>(operation: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new OrtError('FAIL', `${operation} failed: ${(error as Error).message}`);
  }
}
