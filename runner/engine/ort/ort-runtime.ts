// The runtime over a backend: makes tensors and sessions and counts what lives.
import type { Backend, NativeTensor } from './backend.ts';
import { DeviceTensor } from './device-tensor.ts';
import { hostData } from './host-data.ts';
import { HostTensor } from './host-tensor.ts';
import { explain } from './ort-error.ts';
import { OrtSession } from './ort-session.ts';
import { SharedHandle } from './shared-handle.ts';
import type {
  DType,
  Provider,
  Runtime,
  RuntimeStats,
  Session,
  SessionOptions,
  Tensor,
  TensorData,
} from './runtime.ts';

export class OrtRuntime<V, S> implements Runtime {
  readonly name: Runtime['name'];
  readonly provider: Provider;
  readonly version: string;
  readonly threads: number;
  // Sessions hold the backend too: it ends after the last of them.
  readonly #backend: SharedHandle<Backend<V, S>>;
  readonly #live = { sessions: 0, tensors: 0, bindings: 0 };
  #disposed = false;

  constructor(backend: Backend<V, S>) {
    this.name = backend.name;
    this.provider = backend.provider;
    this.version = backend.version;
    this.threads = backend.threads;
    this.#backend = new SharedHandle(backend, () => backend.release());
  }

  tensor(dtype: DType, dims: readonly number[], data?: TensorData): Tensor {
    this.#assertLive();
    const memory = hostData(dtype, dims, data);
    const native = this.#backend.value.createTensor(dtype, dims, memory);
    return new HostTensor(this, dtype, dims, memory, this.#share(native));
  }

  allocate(dtype: DType, dims: readonly number[]): Tensor {
    this.#assertLive();
    const { allocate } = this.#backend.value;
    if (allocate === undefined) return this.tensor(dtype, dims);
    return new DeviceTensor(this, dtype, dims, this.#share(allocate(dtype, dims)));
  }

  async createSession(model: Uint8Array, options: SessionOptions = {}): Promise<Session> {
    this.#assertLive();
    const label = options.label ?? 'session';
    const backend = this.#backend.retain();
    try {
      const native = await backend.value.createSession(model, options);
      const release = this.#count('sessions', () => {
        native.release();
        backend.release();
      });
      const handle = new SharedHandle(native.value, release);
      return new OrtSession(label, native, handle, {
        sharedBuffers: options.sharedBuffers ?? false,
        runtime: this,
        backend: backend.value,
        countBinding: (end) => this.#count('bindings', end),
      });
    } catch (error) {
      backend.release();
      throw explain(error, label);
    }
  }

  stats(): RuntimeStats {
    return { ...this.#live };
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#backend.release();
  }

  // A tensor holds the backend as a session does: a device's memory is given back to it.
  #share<T extends NativeTensor<V>>(native: T): SharedHandle<T> {
    const backend = this.#backend.retain();
    const release = this.#count('tensors', () => {
      native.release();
      backend.release();
    });
    return new SharedHandle(native, release);
  }

  /** Counts an object from now until the returned function has ended it. */
  #count(kind: keyof RuntimeStats, end: () => void): () => void {
    this.#live[kind] += 1;
    return () => {
      end();
      this.#live[kind] -= 1;
    };
  }

  #assertLive(): void {
    if (this.#disposed) throw new Error('the runtime was disposed');
  }
}
