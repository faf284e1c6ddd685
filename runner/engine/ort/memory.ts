// Tensors over memory that somebody else owns, on the host or on a device.
import { addressOf, call, release, type Pointer } from './api.ts';
import type { NativeTensor } from './backend.ts';
import type { DType, TensorData } from './runtime.ts';
import { elementCode } from './signature.ts';

const deviceAllocator = 0;
const memTypeDefault = 0;
const firstDevice = 0;

export const hostMemory = (): Pointer => call('CreateCpuMemoryInfo', deviceAllocator, memTypeDefault);

/** Memory of a provider's device under the provider's own name for it. */
export const deviceMemory = (name: string): Pointer =>
  call('CreateMemoryInfo', name, deviceAllocator, firstDevice, memTypeDefault);

/** A tensor over `bytes` at `address`, which outlive it. */
export function tensorOver(
  memoryInfo: Pointer,
  address: Pointer | null,
  bytes: number,
  dtype: DType,
  dims: readonly number[],
): Pointer {
  return call(
    'CreateTensorWithDataAsOrtValue',
    memoryInfo,
    address,
    bytes,
    BigInt64Array.from(dims, BigInt),
    dims.length,
    elementCode(dtype),
  );
}

// An empty tensor has no memory, but ONNX Runtime wants an address.
const nowhere = new BigInt64Array(1);

export function hostTensor(
  memoryInfo: Pointer,
  dtype: DType,
  dims: readonly number[],
  data: TensorData,
): NativeTensor<Pointer> {
  const address = addressOf(data) ?? addressOf(nowhere);
  const value = tensorOver(memoryInfo, address, data.byteLength, dtype, dims);
  return { value, data, release: () => release('ReleaseValue', value) };
}
