// A device's memory: buffers from the provider's allocator, and spare ones for runs in place. Buffers know no dtype;
// a tensor of any dtype and shape can be laid over one.
import { call, release, type Pointer } from './api.ts';
import { deviceMemory, tensorOver } from './memory.ts';
import type { DType } from './runtime.ts';

/** Copies on a device go by whole blocks of this size. */
const blockBytes = 16;

export class DeviceBuffer {
  readonly bytes: number;
  readonly address: Pointer;
  readonly #memoryInfo: Pointer;
  readonly #values = new Map<string, Pointer>();

  constructor(memoryInfo: Pointer, address: Pointer, bytes: number) {
    this.#memoryInfo = memoryInfo;
    this.address = address;
    this.bytes = bytes;
  }

  /** This buffer as a tensor of the given type, which starts at its begin; kept as long as the buffer. */
  as(dtype: DType, dims: readonly number[], bytes: number): Pointer {
    const key = `${dtype} ${dims.join()}`;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = tensorOver(this.#memoryInfo, this.address, bytes, dtype, dims);
    this.#values.set(key, value);
    return value;
  }

  forget(): void {
    for (const value of this.#values.values()) release('ReleaseValue', value);
    this.#values.clear();
  }
}

/** Buffers of one size: how many are lent to tensors, and those that wait for a run in place. */
interface SizeClass {
  lent: number;
  readonly spare: DeviceBuffer[];
}

export class DeviceHeap {
  readonly #memoryInfo: Pointer;
  readonly #allocator: Pointer;
  readonly #classes = new Map<number, SizeClass>();

  /** Memory named `memoryName` of the provider that `session` computes on; the session outlives the heap. */
  constructor(session: Pointer, memoryName: string) {
    this.#memoryInfo = deviceMemory(memoryName);
    try {
      this.#allocator = call('CreateAllocator', session, this.#memoryInfo);
    } catch (error) {
      release('ReleaseMemoryInfo', this.#memoryInfo);
      throw error;
    }
  }

  /** A buffer for a tensor, of at least that many bytes; what it holds is undefined. */
  lend(bytes: number): DeviceBuffer {
    const size = Math.max(1, Math.ceil(bytes / blockBytes)) * blockBytes;
    const buffer = this.#allocate(size);
    this.#class(size).lent += 1;
    return buffer;
  }

  giveBack(buffer: DeviceBuffer): void {
    const sizeClass = this.#class(buffer.bytes);
    this.#free(buffer);
    sizeClass.lent -= 1;
    if (sizeClass.lent > 0) return;
    for (const spare of sizeClass.spare) this.#free(spare);
    this.#classes.delete(buffer.bytes);
  }

  /** A buffer as large as `buffer`, for a run that cannot write over what it reads. Goes back by `keepSpare`. */
  takeSpare({ bytes }: DeviceBuffer): DeviceBuffer {
    return this.#class(bytes).spare.pop() ?? this.#allocate(bytes);
  }

  keepSpare(buffer: DeviceBuffer): void {
    this.#class(buffer.bytes).spare.push(buffer);
  }

  /** All buffers are back by now. */
  release(): void {
    release('ReleaseAllocator', this.#allocator);
    release('ReleaseMemoryInfo', this.#memoryInfo);
  }

  #class(bytes: number): SizeClass {
    const known = this.#classes.get(bytes);
    if (known !== undefined) return known;
    const made = { lent: 0, spare: [] };
    this.#classes.set(bytes, made);
    return made;
  }

  #allocate(bytes: number): DeviceBuffer {
    return new DeviceBuffer(this.#memoryInfo, call('AllocatorAlloc', this.#allocator, bytes), bytes);
  }

  #free(buffer: DeviceBuffer): void {
    buffer.forget();
    call('AllocatorFree', this.#allocator, buffer.address);
  }
}
