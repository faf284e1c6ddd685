// What the two ways to ONNX Runtime must offer: create native objects and run. When those live and
// end, and every check of arguments, is written once on top (host-*.ts).
import type { DType, Runtime, SessionOptions, TensorData } from './runtime.ts';
import type { ValueInfo } from './signature.ts';

export interface Native<T> {
  readonly value: T;
  release(): void;
}

export interface NativeSession<S> extends Native<S> {
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
}

/** A tensor under the name of the input or output it is bound to; whoever holds it keeps its memory alive. */
export interface BoundValue<V> {
  readonly name: string;
  readonly value: V;
  readonly data: TensorData;
}

export interface PreparedRun {
  run(): Promise<void>;
  runSync(): void;
  release(): void;
}

/** `V` is a native tensor, `S` a native session. Failures of ONNX Runtime are OrtErrors. */
export interface Backend<V, S> {
  readonly name: Runtime['name'];
  readonly version: string;
  readonly threads: number;
  /** A tensor over `data`, which fits dtype and dims and which the caller keeps alive. */
  createValue(dtype: DType, dims: readonly number[], data: TensorData): Native<V>;
  createSession(model: Uint8Array, options: SessionOptions): Promise<NativeSession<S>>;
  /** Inputs and outputs fit the session. The caller keeps session and values alive until release. */
  prepare(session: S, inputs: readonly BoundValue<V>[], outputs: readonly BoundValue<V>[]): PreparedRun;
  release(): void;
}
