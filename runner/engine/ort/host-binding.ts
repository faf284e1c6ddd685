// A prepared run: the session and the tensors it points at, all held until it is disposed and its
// last run has ended.
import type { Backend, BoundValue, PreparedRun } from './backend.ts';
import type { HostTensor } from './host-tensor.ts';
import { explain } from './ort-error.ts';
import { SharedHandle } from './shared-handle.ts';
import type { Binding } from './runtime.ts';

interface BoundTensors<V> {
  readonly inputs: ReadonlyMap<string, HostTensor<V>>;
  readonly outputs: ReadonlyMap<string, HostTensor<V>>;
}

interface BoundSession {
  readonly label: string;
  assertLive(): void;
}

export class HostBinding<V, S> implements Binding {
  readonly #session: BoundSession;
  readonly #prepared: SharedHandle<PreparedRun>;
  readonly #tensors: readonly (readonly [string, HostTensor<V>])[];
  #running = false;
  #disposed = false;

  constructor(
    session: BoundSession,
    handle: SharedHandle<S>,
    backend: Backend<V, S>,
    { inputs, outputs }: BoundTensors<V>,
    count: (end: () => void) => () => void,
  ) {
    this.#session = session;
    this.#tensors = [...inputs, ...outputs];
    const prepared = backend.prepare(handle.value, boundValues(inputs), boundValues(outputs));
    const held = [handle.retain(), ...this.#tensors.map(([, tensor]) => tensor.retain())];
    const end = count(() => {
      prepared.release();
      for (const one of held) one.release();
    });
    this.#prepared = new SharedHandle(prepared, end);
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

function boundValues<V>(tensors: ReadonlyMap<string, HostTensor<V>>): BoundValue<V>[] {
  return Array.from(tensors, ([name, tensor]) => ({
    name,
    value: tensor.native,
    data: tensor.data,
  }));
}
