// What the machine's matrix product reaches at this moment: 2048 cubed, float32.

import { Graph } from '../../runner/engine/graph/graph.ts';
import { serialize } from '../../runner/engine/onnx/serialize.ts';
import { matmul } from '../../runner/engine/ops/matmul.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import type { Binding, Runtime } from '../../runner/engine/ort/runtime.ts';

const size = 2048;

export class ProductRate implements Disposable {
  readonly #scope: Scope;
  readonly #binding: Binding;

  private constructor(scope: Scope, binding: Binding) {
    this.#scope = scope;
    this.#binding = binding;
  }

  static async create(runtime: Runtime): Promise<ProductRate> {
    const scope = new Scope();
    const graph = new Graph();
    graph.output(
      'c',
      matmul(graph.input('a', 'float32', [size, size]), graph.input('b', 'float32', [size, size])),
    );
    const session = scope.own(await runtime.createSession(serialize(graph), { label: 'product rate' }));
    const operand = (): Float32Array => new Float32Array(size * size).map((_, i) => Math.sin(i));
    const tensor = (data?: Float32Array) => scope.own(runtime.tensor('float32', [size, size], data));
    return new ProductRate(
      scope,
      scope.own(session.bind({ a: tensor(operand()), b: tensor(operand()) }, { c: tensor() })),
    );
  }

  /** FLOP/s of one product. */
  measure(): number {
    const started = performance.now();
    this.#binding.runSync();
    return (2 * size ** 3) / ((performance.now() - started) / 1000);
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
