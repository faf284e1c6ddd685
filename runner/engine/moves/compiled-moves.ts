// Small graphs that move rows on a device, where memory cannot be copied by hand. Compiled once a shape; each run binds the
// tensors that it is given, since these come and go with the shapes of batches.

import type { Graph } from '../graph/graph.ts';
import { serialize } from '../onnx/serialize.ts';
import type { Runtime, Session, SessionOptions, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';

type Tensors = Record<string, Tensor>;

export class CompiledMoves implements Disposable {
  readonly #runtime: Runtime;
  readonly #scope = new Scope();
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** `label` names the move and all that its graph depends on. */
  async run(
    label: string,
    graph: () => Graph,
    inputs: Tensors,
    outputs: Tensors,
    options: SessionOptions = {},
  ): Promise<void> {
    const session = await this.#session(label, graph, options);
    const binding = session.bind(inputs, outputs);
    try {
      await binding.run();
    } finally {
      binding[Symbol.dispose]();
    }
  }

  /** Runs with the numbers as one more input, a tensor on the host. */
  async runIndexed(
    label: string,
    graph: () => Graph,
    inputs: Tensors,
    index: readonly [name: string, values: Int32Array],
    outputs: Tensors,
    options: SessionOptions = {},
  ): Promise<void> {
    const [name, values] = index;
    const tensor = this.#runtime.tensor('int32', [values.length], values);
    try {
      await this.run(label, graph, { ...inputs, [name]: tensor }, outputs, options);
    } finally {
      tensor[Symbol.dispose]();
    }
  }

  #session(label: string, graph: () => Graph, options: SessionOptions): Promise<Session> {
    const known = this.#sessions.get(label);
    if (known !== undefined) return known;
    const created = this.#runtime
      .createSession(serialize(graph(), label), { ...options, label })
      .then((session) => this.#scope.own(session));
    this.#sessions.set(label, created);
    return created;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
