// A tensor's place in a device's memory. Which buffer that is changes: a run in place swaps it for the spare buffer
// that it wrote to. Zeros are made when something is about to read them: what is written first never was zeroed, and
// allocating needs no turn on the device.
import type { Pointer } from './api.ts';
import type { DeviceMemory } from './backend.ts';
import type { DeviceBuffer } from './device-heap.ts';
import type { DeviceCopy } from './device-copy.ts';
import { hostData } from './host-data.ts';
import type { Turns } from './turns.ts';
import type { DType, TensorData } from './runtime.ts';

interface DeviceParts {
  readonly copy: DeviceCopy;
  readonly turns: Turns;
  giveBack(buffer: DeviceBuffer): void;
}

export class DevicePlace implements DeviceMemory<Pointer> {
  readonly #dtype: DType;
  readonly #dims: readonly number[];
  readonly #bytes: number;
  readonly #parts: DeviceParts;
  #buffer: DeviceBuffer;
  /** It is to be zeros, and its buffer may hold something else. */
  #blank = true;

  constructor(
    dtype: DType,
    dims: readonly number[],
    bytes: number,
    buffer: DeviceBuffer,
    parts: DeviceParts,
  ) {
    this.#dtype = dtype;
    this.#dims = [...dims];
    this.#bytes = bytes;
    this.#buffer = buffer;
    this.#parts = parts;
  }

  get buffer(): DeviceBuffer {
    return this.#buffer;
  }

  get value(): Pointer {
    return this.over(this.#buffer);
  }

  /** Another buffer of the same size, seen as this tensor. */
  over(buffer: DeviceBuffer): Pointer {
    return buffer.as(this.#dtype, this.#dims, this.#bytes);
  }

  /** Before something reads the buffer, in the reader's turn. */
  settle(): void {
    if (this.#blank && this.#bytes > 0) this.#parts.copy.zero(this.#buffer, this.#bytes);
    this.#blank = false;
  }

  /** After something has written the whole buffer. */
  written(): void {
    this.#blank = false;
  }

  /** Takes another buffer, with its contents, and gives up its own. */
  exchange(buffer: DeviceBuffer): DeviceBuffer {
    const before = this.#buffer;
    this.#buffer = buffer;
    this.#blank = false;
    return before;
  }

  read(): Promise<TensorData> {
    const data = hostData(this.#dtype, this.#dims);
    if (this.#bytes === 0) return Promise.resolve(data);
    return this.#parts.turns.inTurn(async () => {
      this.settle();
      await this.#parts.copy.download(this.#buffer, data);
      return data;
    });
  }

  write(data: TensorData): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve();
    return this.#parts.turns.inTurn(async () => {
      await this.#parts.copy.upload(data, this.#buffer);
      this.#blank = false;
    });
  }

  zero(): Promise<void> {
    return this.#parts.turns.inTurn(async () => {
      this.#blank = true;
    });
  }

  release(): void {
    this.#parts.turns.whenIdle(() => this.#parts.giveBack(this.#buffer));
  }
}
