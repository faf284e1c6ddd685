// When a device has finished. A run on WebGPU returns when its work is submitted; what is read afterwards waits for all that
// came before it, so a clock is stopped after a read. On the CPU a run's end is the end, and this costs nothing.

import type { Runtime, Tensor } from '../../runner/engine/ort/runtime.ts';

export class Fence implements Disposable {
  readonly #mark: Tensor;

  constructor(runtime: Runtime) {
    this.#mark = runtime.allocate('int32', [1]);
  }

  /** Resolves when the device has done all that was asked of it. */
  async reached(): Promise<void> {
    await this.#mark.read();
  }

  [Symbol.dispose](): void {
    this.#mark[Symbol.dispose]();
  }
}
