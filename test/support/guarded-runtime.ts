// The CPU as if it were a device: what is allocated can be bound, read and written, but its memory cannot be reached. It
// proves on any machine that code for devices never reaches into them.
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime, Session, Tensor } from '../../runner/engine/ort/runtime.ts';

class GuardedTensor implements Tensor {
  readonly location = 'device';
  readonly dtype: Tensor['dtype'];
  readonly dims: readonly number[];
  readonly inner: Tensor;

  constructor(inner: Tensor) {
    this.inner = inner;
    this.dtype = inner.dtype;
    this.dims = inner.dims;
  }

  get data(): never {
    throw new Error(
      `tensor ${this.dtype}[${this.dims.join(', ')}] lies on the device: await its read() instead`,
    );
  }

  async read(): ReturnType<Tensor['read']> {
    return (await this.inner.read()).slice();
  }

  write(data: Tensor['data']): Promise<void> {
    return this.inner.write(data.slice());
  }

  zero(): Promise<void> {
    return this.inner.zero();
  }

  [Symbol.dispose](): void {
    this.inner[Symbol.dispose]();
  }
}

const inside = (tensors: Record<string, Tensor>): Record<string, Tensor> =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [
      name,
      tensor instanceof GuardedTensor ? tensor.inner : tensor,
    ]),
  );

const guardedSession = (session: Session): Session => ({
  inputNames: session.inputNames,
  outputNames: session.outputNames,
  bind: (inputs, outputs) => session.bind(inside(inputs), inside(outputs)),
  [Symbol.dispose]: () => session[Symbol.dispose](),
});

/** It says that it is WebGPU, and computes on the CPU. */
export function guardedRuntime(): Runtime {
  const runtime = createRuntime({ threads: 2 });
  return {
    name: runtime.name,
    provider: 'webgpu',
    version: runtime.version,
    threads: runtime.threads,
    tensor: (dtype, dims, data) => runtime.tensor(dtype, dims, data),
    allocate: (dtype, dims) => new GuardedTensor(runtime.allocate(dtype, dims)),
    createSession: async (model, options) => guardedSession(await runtime.createSession(model, options)),
    stats: () => runtime.stats(),
    [Symbol.dispose]: () => runtime[Symbol.dispose](),
  };
}
