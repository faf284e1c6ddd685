// A host tensor as an OrtValue over a typed array's memory: no copy in either direction.
import { addressOf, call, type Pointer } from './api.ts';
import { NativeHandle } from './native-handle.ts';
import { elementCode } from './signature.ts';
import type { DType, Tensor, TensorData } from './runtime.ts';

// An empty tensor has no memory, but ONNX Runtime wants an address.
const nowhere = new BigInt64Array(1);

export class NativeTensor implements Tensor {
  readonly dtype: DType;
  readonly dims: readonly number[];
  // The OrtValue points into this memory: whoever holds the tensor or a binding of it holds both.
  #data: TensorData | undefined;
  readonly #handle: NativeHandle;

  /** `data` has been checked by hostData; `memoryInfo` is the CPU's. */
  constructor(
    memoryInfo: Pointer,
    dtype: DType,
    dims: readonly number[],
    data: TensorData,
    afterwards: () => void,
  ) {
    this.dtype = dtype;
    this.dims = [...dims];
    this.#data = data;
    const value = call(
      'CreateTensorWithDataAsOrtValue',
      memoryInfo,
      addressOf(data) ?? addressOf(nowhere),
      data.byteLength,
      BigInt64Array.from(dims, BigInt),
      dims.length,
      elementCode(dtype),
    );
    this.#handle = new NativeHandle('ReleaseValue', value, afterwards);
  }

  get disposed(): boolean {
    return this.#data === undefined;
  }

  get data(): TensorData {
    if (this.#data === undefined) throw new Error(`${this.toString()} was disposed`);
    return this.#data;
  }

  get pointer(): Pointer {
    return this.#handle.pointer;
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
