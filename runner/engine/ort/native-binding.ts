// A prepared run: an OrtIoBinding, the session and the tensors it points at, all held until it is
// disposed and its last run has ended.
import { call, callAsync } from './api.ts';
import { NativeHandle } from './native-handle.ts';
import { OrtError } from './ort-error.ts';
import type { LiveCounts, NativeSession } from './native-session.ts';
import type { NativeTensor } from './native-tensor.ts';
import type { Binding } from './runtime.ts';
import type { BoundValue } from './signature.ts';

interface BoundTensors {
  readonly inputs: readonly BoundValue<NativeTensor>[];
  readonly outputs: readonly BoundValue<NativeTensor>[];
}

export function createBinding(
  session: NativeSession,
  live: LiveCounts,
  bound: BoundTensors,
): NativeBinding {
  const pointer = call('CreateIoBinding', session.handle.pointer);
  session.handle.retain();
  live.bindings += 1;
  const handle = new NativeHandle('ReleaseIoBinding', pointer, () => {
    live.bindings -= 1;
    session.handle.release();
  });
  try {
    for (const { name, tensor } of bound.inputs) call('BindInput', pointer, name, tensor.pointer);
    for (const { name, tensor } of bound.outputs) call('BindOutput', pointer, name, tensor.pointer);
  } catch (error) {
    handle.release();
    throw error;
  }
  return new NativeBinding(session, handle, bound);
}

class NativeBinding implements Binding {
  readonly #session: NativeSession;
  readonly #handle: NativeHandle;
  // The tensors themselves and their memory: a disposed tensor lets go of its memory, a binding does not.
  readonly #bound: BoundTensors;
  readonly #memory: readonly unknown[];
  #running = false;
  #disposed = false;

  constructor(session: NativeSession, handle: NativeHandle, bound: BoundTensors) {
    this.#session = session;
    this.#handle = handle;
    this.#bound = bound;
    this.#memory = [...bound.inputs, ...bound.outputs].map(({ tensor }) => tensor.data);
  }

  async run(): Promise<void> {
    this.#assertReady();
    this.#running = true;
    this.#handle.retain();
    try {
      const { session, binding } = this.#pointers();
      await callAsync('RunWithBinding', [this, this.#memory], session, null, binding);
    } catch (error) {
      throw this.#explain(error);
    } finally {
      this.#running = false;
      this.#handle.release();
    }
  }

  runSync(): void {
    this.#assertReady();
    try {
      const { session, binding } = this.#pointers();
      call('RunWithBinding', session, null, binding);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#handle.release();
  }

  #pointers(): { session: bigint; binding: bigint } {
    return { session: this.#session.handle.pointer, binding: this.#handle.pointer };
  }

  #assertReady(): void {
    const { label } = this.#session;
    if (this.#disposed) throw new Error(`${label}: the binding was disposed`);
    this.#session.assertLive();
    if (this.#running) throw new Error(`${label}: the binding is running, await its run first`);
    for (const side of [this.#bound.inputs, this.#bound.outputs]) {
      for (const { name, tensor } of side) {
        if (tensor.disposed) throw new Error(`${label}: the tensor bound to ${name} was disposed`);
      }
    }
  }

  #explain(error: unknown): unknown {
    return error instanceof OrtError ? error.about(this.#session.label) : error;
  }
}
