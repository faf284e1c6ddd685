// The runtime on ONNX Runtime's C API: no copies, runs off the calling thread, one thread pool.
import { availableParallelism } from 'node:os';
import { call, release, type Pointer } from './api.ts';
import { hostData } from './host-data.ts';
import { ortLibrary } from './library.ts';
import type { NativeHandle } from './native-handle.ts';
import { createNativeSession } from './native-session.ts';
import { NativeTensor } from './native-tensor.ts';
import { retainEnv } from './ort-env.ts';
import type { DType, Runtime, RuntimeStats, Session, SessionOptions, Tensor, TensorData } from './runtime.ts';

const deviceAllocator = 0;
const memTypeDefault = 0;

export class CApiRuntime implements Runtime {
  readonly name = 'c-api';
  readonly version: string;
  readonly threads: number;
  readonly #env: NativeHandle;
  readonly #memoryInfo: Pointer;
  readonly #live = { sessions: 0, tensors: 0, bindings: 0 };
  #disposed = false;

  constructor(threads: number = availableParallelism()) {
    this.version = ortLibrary().version;
    this.threads = threads;
    this.#env = retainEnv(threads);
    this.#memoryInfo = call('CreateCpuMemoryInfo', deviceAllocator, memTypeDefault);
  }

  tensor(dtype: DType, dims: readonly number[], data?: TensorData): Tensor {
    this.#assertLive();
    const memory = hostData(dtype, dims, data);
    const tensor = new NativeTensor(this.#memoryInfo, dtype, dims, memory, () => {
      this.#live.tensors -= 1;
    });
    this.#live.tensors += 1;
    return tensor;
  }

  async createSession(model: Uint8Array, options: SessionOptions = {}): Promise<Session> {
    this.#assertLive();
    return createNativeSession(this.#env, this.#live, model, options);
  }

  stats(): RuntimeStats {
    return { ...this.#live };
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    release('ReleaseMemoryInfo', this.#memoryInfo);
    this.#env.release();
  }

  #assertLive(): void {
    if (this.#disposed) throw new Error('the runtime was disposed');
  }
}
