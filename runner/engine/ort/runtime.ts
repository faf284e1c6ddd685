// The border between the engine and ONNX Runtime: what a tensor, a session and a binding are.
// Two implementations stand behind it (the C API through koffi, and onnxruntime-node's own binding)
// and run one contract suite. Nothing outside engine/ort knows which one it talks to.
// Disposal may be repeated and comes in any order: what a binding or a run still uses is released
// after it, but use of anything disposed throws. Owners collect theirs in a Scope (scope.ts).

export type DType = 'float32' | 'float64' | 'float16' | 'bfloat16' | 'int32' | 'int64' | 'bool';

/** Elements of the 16-bit floats lie in a Uint16Array, as their bits; booleans in a Uint8Array, as 0 and 1. */
export type TensorData = Float32Array | Float64Array | Uint16Array | Int32Array | BigInt64Array | Uint8Array;

/** Where sessions compute: ONNX Runtime's execution provider. */
export type Provider = 'cpu' | 'webgpu' | 'cuda';

/**
 * A host tensor lies in a typed array; it may be bound to sessions of any provider: those of a device copy it in before
 * every run, and out after it. A device tensor lies where sessions compute and never leaves unless it is read.
 */
export interface Tensor extends Disposable {
  readonly dtype: DType;
  readonly dims: readonly number[];
  readonly location: 'host' | 'device';
  /** A live view of a host tensor's memory: what a session writes into a bound output is seen here. Throws on a device tensor. */
  readonly data: TensorData;
  /** The contents: of a host tensor its memory itself, of a device tensor a copy. */
  read(): Promise<TensorData>;
  /** Overwrites the contents. */
  write(data: TensorData): Promise<void>;
  zero(): Promise<void>;
}

/** Prepared (session, tensors) pair: inputs are read from and outputs written to these buffers at every run. */
export interface Binding extends Disposable {
  /**
   * Leaves the event loop free (C API). One run of a binding at a time; other bindings may run meanwhile, on a device one
   * after the other.
   */
  run(): Promise<void>;
  /**
   * Same as run, on the calling thread: for many short calls, where a thread hop would dominate. On a device it throws
   * while a run of any binding is going.
   */
  runSync(): void;
}

export interface Session extends Disposable {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Throws on names, dtypes and dims that are not the model's. Every input and output must be named. An output may be the same tensor as an input (in place). */
  bind(inputs: Record<string, Tensor>, outputs: Record<string, Tensor>): Binding;
}

export interface SessionOptions {
  /** Names of graph optimizers to leave out, e.g. CommonSubexpressionElimination for recomputation. */
  readonly disabledOptimizers?: readonly string[];
  /**
   * An output bound to an input's tensor shares its buffer on a device too, which the graph must bear: every kernel that
   * reads the one finishes with it before the other is written (GroupQueryAttention's caches). Without it a device
   * writes such an output to a buffer of its own, which the tensor takes over after the run.
   */
  readonly sharedBuffers?: boolean;
  /** Free text that errors name, e.g. "block backward [8x256]". */
  readonly label?: string;
}

export interface RuntimeStats {
  readonly sessions: number;
  readonly tensors: number;
  readonly bindings: number;
}

export interface Runtime extends Disposable {
  readonly name: 'c-api' | 'onnxruntime-node';
  readonly provider: Provider;
  readonly version: string;
  readonly threads: number;
  /** Wraps `data` (which may be a view into a larger buffer; no copy) or allocates zeros when it is absent. */
  tensor(dtype: DType, dims: readonly number[], data?: TensorData): Tensor;
  /** A tensor where sessions compute, for what stays there between runs: zeroed, a host tensor on `cpu`. */
  allocate(dtype: DType, dims: readonly number[]): Tensor;
  /** `model` is a serialized ONNX ModelProto. Errors carry the label and ONNX Runtime's own message. */
  createSession(model: Uint8Array, options?: SessionOptions): Promise<Session>;
  /** Native objects not yet released: tests fail on leaks with it. */
  stats(): RuntimeStats;
}
