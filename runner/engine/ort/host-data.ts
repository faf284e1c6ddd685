// What a tensor's memory must be: element type, dimensions and typed array agree, and the memory
// can be handed to native code. Shared by both implementations of the runtime.
import type { DType, TensorData } from './runtime.ts';

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
} as const satisfies Record<DType, unknown>;

/** Elements in a tensor of these dimensions. */
const sizeOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** Bytes of a tensor, whose dimensions are checked. */
export function byteLength(dtype: DType, dims: readonly number[]): number {
  checkDims(dtype, dims);
  return sizeOf(dims) * arrays[dtype].BYTES_PER_ELEMENT;
}

/** Checks `data` against dtype and dims, or allocates zeros where it is absent. */
export function hostData(dtype: DType, dims: readonly number[], data?: TensorData): TensorData {
  const what = checkDims(dtype, dims);
  const size = sizeOf(dims);
  const array = arrays[dtype];
  if (data === undefined) return new array(size);
  if (!(data instanceof array)) {
    throw new TypeError(`${what}: needs a ${array.name}, got a ${data.constructor.name}`);
  }
  if (data.length !== size) {
    throw new RangeError(`${what}: needs ${size} elements, got ${data.length}`);
  }
  refuseMovable(what, data);
  return data;
}

/** Returns what errors call the tensor. */
function checkDims(dtype: DType, dims: readonly number[]): string {
  const what = `tensor ${dtype}[${dims.join(', ')}]`;
  if (!dims.every((dim) => Number.isSafeInteger(dim) && dim >= 0)) {
    throw new RangeError(`${what}: dimensions must be integers of at least 0`);
  }
  return what;
}

// A resizable buffer can shrink below a pointer that native code holds.
function refuseMovable(what: string, data: TensorData): void {
  const { buffer } = data;
  const movable = buffer instanceof ArrayBuffer ? buffer.resizable : buffer.growable;
  if (movable) throw new TypeError(`${what}: its buffer must not be resizable`);
}
