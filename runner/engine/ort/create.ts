// Chooses the way to ONNX Runtime (its C API, or onnxruntime-node's own binding where koffi cannot load) and where
// sessions compute.
import { availableParallelism } from 'node:os';
import { createCApiBackend } from './c-api-backend.ts';
import { createDeviceBackend } from './device-backend.ts';
import { KoffiUnavailable } from './library.ts';
import { createNodeBackend } from './node-backend.ts';
import { OrtRuntime } from './ort-runtime.ts';
import { ProviderUnavailable, type DeviceOptions, type DeviceProvider } from './provider.ts';
import type { Provider, Runtime } from './runtime.ts';

export interface RuntimeOptions {
  /** Threads of the process's one pool; by default the number of cores. */
  readonly threads?: number;
  /** Where sessions compute, by default the CPU. `auto` takes the first of cuda, webgpu, cpu that this machine has. */
  readonly provider?: Provider | 'auto';
  /** What to ask of a device; the CPU needs none of it. */
  readonly device?: DeviceOptions;
  /** Forces one way and fails where it is not there. MILLRACE_ORT_BINDING does the same. */
  readonly binding?: Runtime['name'];
  /** Told once when the slow way had to be taken. */
  readonly warn?: (message: string) => void;
  /** Told by `auto` what it takes and why nothing before that. */
  readonly tell?: (message: string) => void;
}

/** Throws ProviderUnavailable where the machine has no such provider. */
export function createRuntime({
  threads = availableParallelism(),
  provider = 'cpu',
  device = {},
  binding = forcedBinding(),
  warn = (message) => process.emitWarning(message),
  tell = () => undefined,
}: RuntimeOptions = {}): Runtime {
  if (!Number.isSafeInteger(threads) || threads < 1) {
    throw new RangeError(`threads must be an integer of at least 1, got ${threads}`);
  }
  // Read when the library makes its environment. Unasked, it sends what it does to its maker, and leaves a file in /tmp.
  process.env['ORT_DISABLE_TELEMETRY'] ??= '1';
  if (binding === 'onnxruntime-node') return nodeRuntime(threads, provider);
  const make = (one: Provider): Runtime =>
    one === 'cpu'
      ? new OrtRuntime(createCApiBackend(threads))
      : new OrtRuntime(createDeviceBackend(threads, one, device));
  try {
    return provider === 'auto' ? firstAvailable(make, tell) : make(provider);
  } catch (error) {
    if (binding === 'c-api' || !(error instanceof KoffiUnavailable)) throw error;
    const runtime = nodeRuntime(threads, provider, error);
    warn(`${error.message}; onnxruntime-node's own binding serves instead, many times slower`);
    return runtime;
  }
}

const devices: readonly DeviceProvider[] = ['cuda', 'webgpu'];

function firstAvailable(make: (provider: Provider) => Runtime, tell: (message: string) => void): Runtime {
  for (const provider of devices) {
    try {
      const runtime = make(provider);
      tell(`computing on ${provider}`);
      return runtime;
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error;
      tell(error.message);
    }
  }
  tell('computing on cpu');
  return make('cpu');
}

function nodeRuntime(threads: number, provider: Provider | 'auto', cause?: Error): Runtime {
  if (provider === 'webgpu' || provider === 'cuda') {
    const text = `onnxruntime-node's own binding computes on the cpu only, ${provider} needs the C API through koffi`;
    throw new ProviderUnavailable(text, { cause });
  }
  return new OrtRuntime(createNodeBackend(threads));
}

function forcedBinding(): Runtime['name'] | undefined {
  const forced = process.env['MILLRACE_ORT_BINDING'];
  if (forced === undefined || forced === 'c-api' || forced === 'onnxruntime-node') return forced;
  throw new Error(`MILLRACE_ORT_BINDING is ${forced}, it must be c-api or onnxruntime-node`);
}
