// A prepared run: the session and the tensors it points at, all held until it is disposed and its
// last run has ended.
import type { BoundTensor, NativeTensor, PreparedRun } from './backend.ts';
import type { DeviceTensor } from './device-tensor.ts';
import type { HostTensor } from './host-tensor.ts';
import { explain } from './ort-error.ts';
import type { SessionContext } from './ort-session.ts';
import { SharedHandle } from './shared-handle.ts';
import type { Binding } from './runtime.ts';

export type OrtTensor<V> = HostTensor<V> | DeviceTensor<V>;

interface BoundTensors<V> {
  readonly inputs: ReadonlyMap<string, OrtTensor<V>>;
  readonly outputs: ReadonlyMap<string, OrtTensor<V>>;
}

interface BoundSession {
  readonly label: string;
  assertLive(): void;
}

export class OrtBinding<V, S> implements Binding {
  readonly #session: BoundSession;
  readonly #prepared: SharedHandle<PreparedRun>;
  readonly #tensors: readonly (readonly [string, OrtTensor<V>])[];
  #running = false;
  #disposed = false;

  constructor(
    session: BoundSession,
    handle: SharedHandle<S>,
    { backend, sharedBuffers, countBinding }: SessionContext<V, S>,
    { inputs, outputs }: BoundTensors<V>,
  ) {
    this.#session = session;
    this.#tensors = [...inputs, ...outputs];
    const held: SharedHandle<unknown>[] = [handle.retain()];
    const bound = (tensors: ReadonlyMap<string, OrtTensor<V>>): BoundTensor<V>[] =>
      Array.from(tensors, ([name, tensor]) => {
        const native: SharedHandle<NativeTensor<V>> = tensor.retain();
        held.push(native);
        return { name, tensor: native.value };
      });
    const letGo = () => {
      for (const one of held) one.release();
    };
    try {
      const [from, to] = [bound(inputs), bound(outputs)];
      const prepared = backend.prepare({ session: handle.value, inputs: from, outputs: to, sharedBuffers });
      const end = countBinding(() => {
        prepared.release();
        letGo();
      });
      this.#prepared = new SharedHandle(prepared, end);
    } catch (error) {
      letGo();
      throw error;
    }
  }

  async run(): Promise<void> {
    this.#assertReady();
    this.#running = true;
    const prepared = this.#prepared.retain();
    try {
      await prepared.value.run();
    } catch (error) {
      throw explain(error, this.#session.label);
    } finally {
      this.#running = false;
      prepared.release();
    }
  }

  runSync(): void {
    this.#assertReady();
    try {
      this.#prepared.value.runSync();
    } catch (error) {
      throw explain(error, this.#session.label);
    }
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#prepared.release();
  }

  #assertReady(): void {
    const { label } = this.#session;
    if (this.#disposed) throw new Error(`${label}: the binding was disposed`);
    this.#session.assertLive();
    if (this.#running) throw new Error(`${label}: the binding is running, await its run first`);
    for (const [name, tensor] of this.#tensors) {
      if (tensor.disposed) throw new Error(`${label}: the tensor bound to ${name} was disposed`);
    }
  }
}
