// What the machine's memory gives at this moment: one pass over 256 MiB, far beyond any cache, on all threads.

import { Graph } from '../../runner/engine/graph/graph.ts';
import { serialize } from '../../runner/engine/onnx/serialize.ts';
import { neg } from '../../runner/engine/ops/arithmetic.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import type { Binding, Runtime } from '../../runner/engine/ort/runtime.ts';

const elements = 1 << 26;

export class CopyRate implements Disposable {
  readonly #scope: Scope;
  readonly #binding: Binding;

  private constructor(scope: Scope, binding: Binding) {
    this.#scope = scope;
    this.#binding = binding;
  }

  static async create(runtime: Runtime): Promise<CopyRate> {
    const scope = new Scope();
    const graph = new Graph();
    graph.output('y', neg(graph.input('x', 'float32', [elements])));
    const session = scope.own(await runtime.createSession(serialize(graph), { label: 'copy rate' }));
    const tensor = () => scope.own(runtime.tensor('float32', [elements], new Float32Array(elements).fill(1)));
    return new CopyRate(scope, scope.own(session.bind({ x: tensor() }, { y: tensor() })));
  }

  /** Bytes/s, those read and those written. */
  measure(): number {
    const started = performance.now();
    this.#binding.runSync();
    return (2 * elements * Float32Array.BYTES_PER_ELEMENT) / ((performance.now() - started) / 1000);
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
