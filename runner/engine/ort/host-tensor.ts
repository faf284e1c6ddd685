// A tensor over a typed array's memory: no copy in either direction.
import type { NativeTensor } from './backend.ts';
import { hostData } from './host-data.ts';
import type { SharedHandle } from './shared-handle.ts';
import type { DType, Runtime, Tensor, TensorData } from './runtime.ts';

export class HostTensor<V> implements Tensor {
  readonly runtime: Runtime;
  readonly dtype: DType;
  readonly dims: readonly number[];
  readonly location = 'host';
  // The native tensor points into this memory: whoever uses the one holds the other.
  #data: TensorData | undefined;
  readonly #handle: SharedHandle<NativeTensor<V>>;

  constructor(
    runtime: Runtime,
    dtype: DType,
    dims: readonly number[],
    data: TensorData,
    handle: SharedHandle<NativeTensor<V>>,
  ) {
    this.runtime = runtime;
    this.dtype = dtype;
    this.dims = [...dims];
    this.#data = data;
    this.#handle = handle;
  }

  get disposed(): boolean {
    return this.#data === undefined;
  }

  get data(): TensorData {
    if (this.#data === undefined) throw new Error(`${this.toString()} was disposed`);
    return this.#data;
  }

  async read(): Promise<TensorData> {
    return this.data;
  }

  async write(data: TensorData): Promise<void> {
    this.data.set(hostData(this.dtype, this.dims, data) as never);
  }

  async zero(): Promise<void> {
    new Uint8Array(this.data.buffer, this.data.byteOffset, this.data.byteLength).fill(0);
  }

  /** For a binding, which releases it at its end. */
  retain(): SharedHandle<NativeTensor<V>> {
    return this.#handle.retain();
  }

  toString(): string {
    return `tensor ${this.dtype}[${this.dims.join(', ')}]`;
  }

  [Symbol.dispose](): void {
    if (this.#data === undefined) return;
    this.#data = undefined;
    this.#handle.release();
  }
}
