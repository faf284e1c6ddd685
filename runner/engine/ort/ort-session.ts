// A compiled model: its names, and bindings of tensors to it.
import type { Backend, NativeSession } from './backend.ts';
import { DeviceTensor } from './device-tensor.ts';
import { HostTensor } from './host-tensor.ts';
import { OrtBinding, type OrtTensor } from './ort-binding.ts';
import { explain } from './ort-error.ts';
import type { SharedHandle } from './shared-handle.ts';
import { matchTensors, type ValueInfo } from './signature.ts';
import type { Binding, Runtime, Session, Tensor } from './runtime.ts';

export interface SessionContext<V, S> {
  readonly runtime: Runtime;
  readonly backend: Backend<V, S>;
  readonly sharedBuffers: boolean;
  /** Counts a binding as live until the returned function has ended it. */
  readonly countBinding: (end: () => void) => () => void;
}

export class OrtSession<V, S> implements Session {
  readonly label: string;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #signature: Pick<NativeSession<S>, 'inputs' | 'outputs'>;
  readonly #handle: SharedHandle<S>;
  readonly #context: SessionContext<V, S>;
  #disposed = false;

  constructor(
    label: string,
    { inputs, outputs }: Pick<NativeSession<S>, 'inputs' | 'outputs'>,
    handle: SharedHandle<S>,
    context: SessionContext<V, S>,
  ) {
    this.label = label;
    this.inputNames = inputs.map(({ name }) => name);
    this.outputNames = outputs.map(({ name }) => name);
    this.#signature = { inputs, outputs };
    this.#handle = handle;
    this.#context = context;
  }

  bind(inputs: Record<string, Tensor>, outputs: Record<string, Tensor>): Binding {
    this.assertLive();
    const matched = {
      inputs: this.#match('input', this.#signature.inputs, inputs),
      outputs: this.#match('output', this.#signature.outputs, outputs),
    };
    try {
      return new OrtBinding(this, this.#handle, this.#context, matched);
    } catch (error) {
      throw explain(error, this.label);
    }
  }

  assertLive(): void {
    if (this.#disposed) throw new Error(`${this.label}: the session was disposed`);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#handle.release();
  }

  #match(
    kind: 'input' | 'output',
    infos: readonly ValueInfo[],
    tensors: Record<string, Tensor>,
  ): Map<string, OrtTensor<V>> {
    return matchTensors(this.label, kind, infos, tensors, (tensor, what) => {
      const known = tensor instanceof HostTensor || tensor instanceof DeviceTensor;
      if (!known || tensor.runtime !== this.#context.runtime) {
        throw new TypeError(`${what}: the tensor was made by another runtime`);
      }
      if (tensor.disposed) throw new Error(`${what}: ${tensor.toString()} was disposed`);
      return tensor as OrtTensor<V>;
    });
  }
}
