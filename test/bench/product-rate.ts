// What the matrix product reaches at this moment where sessions compute: 2048 cubed, float32.

import { Graph } from '../../runner/engine/graph/graph.ts';
import { serialize } from '../../runner/engine/onnx/serialize.ts';
import { matmul } from '../../runner/engine/ops/matmul.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import type { Binding, Runtime, Tensor } from '../../runner/engine/ort/runtime.ts';
import { Fence } from './fence.ts';
import { secondsOfRun } from './one-run.ts';

const full = { size: 2048, runsAtOnce: 8 };
/** For slow devices. */
const reduced: typeof full = { size: 256, runsAtOnce: 1 };

export class ProductRate implements Disposable {
  readonly #scope: Scope;
  readonly #seconds: () => Promise<number>;
  readonly #flops: number;

  private constructor(scope: Scope, seconds: () => Promise<number>, flops: number) {
    this.#scope = scope;
    this.#seconds = seconds;
    this.#flops = flops;
  }

  static async create(runtime: Runtime, small: boolean): Promise<ProductRate> {
    const { size, runsAtOnce } = small ? reduced : full;
    const scope = new Scope();
    const graph = new Graph();
    graph.output(
      'c',
      matmul(graph.input('a', 'float32', [size, size]), graph.input('b', 'float32', [size, size])),
    );
    const session = scope.own(await runtime.createSession(serialize(graph), { label: 'product rate' }));
    const operand = (): Float32Array => new Float32Array(size * size).map((_, i) => Math.sin(i));
    const tensor = async (data?: Float32Array): Promise<Tensor> => {
      const allocated = scope.own(runtime.allocate('float32', [size, size]));
      if (data !== undefined) await allocated.write(data);
      return allocated;
    };
    const operands = { a: await tensor(operand()), b: await tensor(operand()) };
    const binding: Binding = scope.own(session.bind(operands, { c: await tensor() }));
    const fence = scope.own(new Fence(runtime));
    return new ProductRate(scope, () => secondsOfRun(runtime, binding, { fence, runsAtOnce }), 2 * size ** 3);
  }

  /** FLOP/s of one product. */
  async measure(): Promise<number> {
    return this.#flops / (await this.#seconds());
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
