// Moving tensors between host and device, and zeroing them, with two small sessions. They see every tensor as int32
// words: bits pass unchanged whatever the dtype, and no provider needs kernels for more than that one.
import { addressOf, call, callAsync, release, type Pointer } from './api.ts';
import type { NativeSession } from './backend.ts';
import type { DeviceBuffer } from './device-heap.ts';
import { hostMemory, hostTensor, tensorOver } from './memory.ts';
import { copyModel, zeroModel } from './device-models.ts';

const wordBytes = 4;
const wordsIn = (bytes: number): number => Math.ceil(bytes / wordBytes);
const asWords = (buffer: DeviceBuffer, bytes: number): Pointer =>
  buffer.as('int32', [wordsIn(bytes)], wordsIn(bytes) * wordBytes);

type Compile = (model: Uint8Array) => NativeSession<Pointer>;

/** One copy at a time: the caller sees to it. */
export class DeviceCopy {
  readonly #copy: NativeSession<Pointer>;
  readonly #zero: NativeSession<Pointer>;
  readonly #runOptions: Pointer;
  readonly #hostMemory = hostMemory();

  constructor(compile: Compile, runOptions: Pointer) {
    this.#runOptions = runOptions;
    this.#copy = compile(copyModel());
    try {
      this.#zero = compile(zeroModel());
    } catch (error) {
      this.#copy.release();
      release('ReleaseMemoryInfo', this.#hostMemory);
      throw error;
    }
  }

  /** A session of the device, for what needs one. */
  get session(): Pointer {
    return this.#copy.value;
  }

  upload(from: ArrayBufferView, to: DeviceBuffer): Promise<void> {
    const padded = padToWords(from);
    return this.#bindAndRun(this.#copy.value, async (binding) => {
      const value = this.#wordsOver(padded);
      try {
        // The copy to the device is made here, so not on the calling thread.
        await callAsync('BindInput', [padded], binding, 'x', value);
      } finally {
        release('ReleaseValue', value);
      }
      call('BindOutput', binding, 'y', asWords(to, from.byteLength));
    });
  }

  async download(from: DeviceBuffer, to: ArrayBufferView): Promise<void> {
    const padded = padToWords(to);
    await this.#bindAndRun(this.#copy.value, (binding) => {
      call('BindInput', binding, 'x', asWords(from, to.byteLength));
      const value = this.#wordsOver(padded);
      call('BindOutput', binding, 'y', value);
      release('ReleaseValue', value);
    });
    if (padded !== to) bytesOf(to).set(bytesOf(padded).subarray(0, to.byteLength));
  }

  zero(buffer: DeviceBuffer, bytes: number): void {
    const binding = call('CreateIoBinding', this.#zero.value);
    const shape = hostTensor(this.#hostMemory, 'int64', [1], BigInt64Array.of(BigInt(wordsIn(bytes))));
    try {
      call('BindInput', binding, 'shape', shape.value);
      call('BindOutput', binding, 'y', asWords(buffer, bytes));
      call('RunWithBinding', this.#zero.value, this.#runOptions, binding);
    } finally {
      release('ReleaseIoBinding', binding);
      shape.release();
    }
  }

  release(): void {
    this.#zero.release();
    this.#copy.release();
    release('ReleaseMemoryInfo', this.#hostMemory);
  }

  async #bindAndRun(session: Pointer, bind: (binding: Pointer) => unknown): Promise<void> {
    const binding = call('CreateIoBinding', session);
    try {
      await bind(binding);
      await callAsync('RunWithBinding', [], session, this.#runOptions, binding);
    } finally {
      release('ReleaseIoBinding', binding);
    }
  }

  #wordsOver(view: ArrayBufferView): Pointer {
    const words = wordsIn(view.byteLength);
    return tensorOver(this.#hostMemory, addressOf(view), view.byteLength, 'int32', [words]);
  }
}

const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** The view itself, or where it ends inside a word a longer copy. */
function padToWords(view: ArrayBufferView): ArrayBufferView {
  const bytes = wordsIn(view.byteLength) * wordBytes;
  if (bytes === view.byteLength) return view;
  const padded = new Uint8Array(bytes);
  padded.set(bytesOf(view));
  return padded;
}
