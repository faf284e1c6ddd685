// Chooses the way to ONNX Runtime: its C API, or onnxruntime-node's own binding where koffi cannot load.
import { availableParallelism } from 'node:os';
import { createCApiBackend } from './c-api-backend.ts';
import { HostRuntime } from './host-runtime.ts';
import { KoffiUnavailable } from './library.ts';
import { createNodeBackend } from './node-backend.ts';
import type { Runtime } from './runtime.ts';

export interface RuntimeOptions {
  /** Threads of the process's one pool; by default the number of cores. */
  readonly threads?: number;
  /** Forces one way and fails where it is not there. MILLRACE_ORT_BINDING does the same. */
  readonly binding?: Runtime['name'];
  /** Told once when the slow way had to be taken. */
  readonly warn?: (message: string) => void;
}

export function createRuntime({
  threads = availableParallelism(),
  binding = forcedBinding(),
  warn = (message) => process.emitWarning(message),
}: RuntimeOptions = {}): Runtime {
  if (!Number.isSafeInteger(threads) || threads < 1) {
    throw new RangeError(`threads must be an integer of at least 1, got ${threads}`);
  }
  // Read when the library makes its environment. Unasked, it sends what it does to its maker, and leaves a file in /tmp.
  process.env['ORT_DISABLE_TELEMETRY'] ??= '1';
  if (binding === 'onnxruntime-node') return new HostRuntime(createNodeBackend(threads));
  try {
    return new HostRuntime(createCApiBackend(threads));
  } catch (error) {
    if (binding === 'c-api' || !(error instanceof KoffiUnavailable)) throw error;
    warn(`${error.message}; onnxruntime-node's own binding serves instead, many times slower`);
    return new HostRuntime(createNodeBackend(threads));
  }
}

function forcedBinding(): Runtime['name'] | undefined {
  const forced = process.env['MILLRACE_ORT_BINDING'];
  if (forced === undefined || forced === 'c-api' || forced === 'onnxruntime-node') return forced;
  throw new Error(`MILLRACE_ORT_BINDING is ${forced}, it must be c-api or onnxruntime-node`);
}
