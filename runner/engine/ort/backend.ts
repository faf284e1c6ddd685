// What the ways to ONNX Runtime must offer: create native objects and run. When those live and end, and every check
// of arguments, is written once on top (ort-*.ts).
import type { DType, Provider, Runtime, SessionOptions, TensorData } from './runtime.ts';
import type { ValueInfo } from './signature.ts';

export interface Native<T> {
  readonly value: T;
  release(): void;
}

export interface NativeSession<S> extends Native<S> {
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
}

/** A tensor as native code sees it. */
export interface NativeTensor<V> extends Native<V> {
  /** The memory behind `value`, where that lies on the host: whoever holds the tensor keeps it alive. */
  readonly data?: TensorData;
}

/** A tensor in a device's memory. Its `value` changes when a run in place gives it another buffer. */
export interface DeviceMemory<V> extends NativeTensor<V> {
  read(): Promise<TensorData>;
  write(data: TensorData): Promise<void>;
  zero(): Promise<void>;
}

/** A tensor under the name of the input or output it is bound to. */
export interface BoundTensor<V> {
  readonly name: string;
  readonly tensor: NativeTensor<V>;
}

export interface PreparedRun {
  run(): Promise<void>;
  runSync(): void;
  release(): void;
}

/** What a binding points at. Inputs and outputs fit the session; the caller keeps all of it alive until release. */
export interface Bound<V, S> {
  readonly session: S;
  readonly inputs: readonly BoundTensor<V>[];
  readonly outputs: readonly BoundTensor<V>[];
  /** See SessionOptions. */
  readonly sharedBuffers: boolean;
}

/** `V` is a native tensor, `S` a native session. Failures of ONNX Runtime are OrtErrors. */
export interface Backend<V, S> {
  readonly name: Runtime['name'];
  readonly provider: Provider;
  readonly version: string;
  readonly threads: number;
  /** A tensor over `data`, which fits dtype and dims and which the caller keeps alive. */
  createTensor(dtype: DType, dims: readonly number[], data: TensorData): NativeTensor<V>;
  /** A tensor of zeros where sessions compute; absent where that is the host. */
  readonly allocate?: (dtype: DType, dims: readonly number[]) => DeviceMemory<V>;
  createSession(model: Uint8Array, options: SessionOptions): Promise<NativeSession<S>>;
  prepare(bound: Bound<V, S>): PreparedRun;
  release(): void;
}
