// A tensor that lies where sessions compute. Its contents cross to the host only when they are read or written.
import type { DeviceMemory } from './backend.ts';
import { hostData } from './host-data.ts';
import type { SharedHandle } from './shared-handle.ts';
import type { DType, Runtime, Tensor, TensorData } from './runtime.ts';

export class DeviceTensor<V> implements Tensor {
  readonly runtime: Runtime;
  readonly dtype: DType;
  readonly dims: readonly number[];
  readonly location = 'device';
  readonly #handle: SharedHandle<DeviceMemory<V>>;
  #disposed = false;

  constructor(
    runtime: Runtime,
    dtype: DType,
    dims: readonly number[],
    handle: SharedHandle<DeviceMemory<V>>,
  ) {
    this.runtime = runtime;
    this.dtype = dtype;
    this.dims = [...dims];
    this.#handle = handle;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  get data(): TensorData {
    throw new Error(`${this.toString()} lies on the device: await its read() instead`);
  }

  read(): Promise<TensorData> {
    return this.#use((memory) => memory.read());
  }

  write(data: TensorData): Promise<void> {
    return this.#use((memory) => memory.write(hostData(this.dtype, this.dims, data)));
  }

  zero(): Promise<void> {
    return this.#use((memory) => memory.zero());
  }

  /** For a binding, which releases it at its end. */
  retain(): SharedHandle<DeviceMemory<V>> {
    return this.#handle.retain();
  }

  toString(): string {
    return `device tensor ${this.dtype}[${this.dims.join(', ')}]`;
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#handle.release();
  }

  async #use<T>(work: (memory: DeviceMemory<V>) => Promise<T>): Promise<T> {
    if (this.#disposed) throw new Error(`${this.toString()} was disposed`);
    const handle = this.#handle.retain();
    try {
      return await work(handle.value);
    } finally {
      handle.release();
    }
  }
}
