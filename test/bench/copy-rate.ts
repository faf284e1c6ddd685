// What the memory gives at this moment where sessions compute: one pass over 256 MiB, far beyond any cache, on all threads.

import { Graph } from '../../runner/engine/graph/graph.ts';
import { serialize } from '../../runner/engine/onnx/serialize.ts';
import { neg } from '../../runner/engine/ops/arithmetic.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import type { Runtime, Tensor } from '../../runner/engine/ort/runtime.ts';
import { Fence } from './fence.ts';
import { secondsOfRun } from './one-run.ts';

const full = { elements: 1 << 26, runsAtOnce: 8 };
/** For slow devices. */
const reduced: typeof full = { elements: 1 << 20, runsAtOnce: 1 };

export class CopyRate implements Disposable {
  readonly #scope: Scope;
  readonly #seconds: () => Promise<number>;
  readonly #bytes: number;

  private constructor(scope: Scope, seconds: () => Promise<number>, bytes: number) {
    this.#scope = scope;
    this.#seconds = seconds;
    this.#bytes = bytes;
  }

  static async create(runtime: Runtime, small: boolean): Promise<CopyRate> {
    const { elements, runsAtOnce } = small ? reduced : full;
    const scope = new Scope();
    const graph = new Graph();
    graph.output('y', neg(graph.input('x', 'float32', [elements])));
    const session = scope.own(await runtime.createSession(serialize(graph), { label: 'copy rate' }));
    const tensor = async (): Promise<Tensor> => {
      const allocated = scope.own(runtime.allocate('float32', [elements]));
      await allocated.write(new Float32Array(elements).fill(1));
      return allocated;
    };
    const binding = scope.own(session.bind({ x: await tensor() }, { y: await tensor() }));
    const fence = scope.own(new Fence(runtime));
    const bytes = 2 * elements * Float32Array.BYTES_PER_ELEMENT;
    return new CopyRate(scope, () => secondsOfRun(runtime, binding, { fence, runsAtOnce }), bytes);
  }

  /** Bytes/s, those read and those written. */
  async measure(): Promise<number> {
    return this.#bytes / (await this.#seconds());
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
