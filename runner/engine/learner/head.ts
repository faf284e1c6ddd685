// The head over gathered rows, a chunk at a time: rows of hidden states in, numbers for each of them and, in training,
// gradients out. Chunks have few recurring sizes; the last one is filled up with rows that have no weight.

import { gradientOf, previousOf } from '../models/decoder-block.ts';
import { serialize } from '../onnx/serialize.ts';
import { Scope } from '../ort/scope.ts';
import type { Binding, Runtime, Session, Tensor } from '../ort/runtime.ts';
import type { HeadDefinition, HeadPass, RowInput } from './head-definition.ts';
import type { ParameterStore } from './parameter-store.ts';
import type { RowMoves } from './row-moves.ts';

/** The rows of the hidden states that the head looks at, and what goes in with each, by the graph's names: [R], or [R,width]. */
export interface HeadRows {
  readonly rows_R: Int32Array;
  readonly inputs: Readonly<Record<string, Int32Array | Float32Array>>;
}

/** What came out, by the graph's names: [R] each. */
export type HeadResult = Readonly<Record<string, Float32Array>>;

export type HeadScalars = Readonly<Record<string, number>>;

interface Chunk {
  readonly size: number;
  /** x and d_x, [R,D]. */
  readonly x: Tensor;
  readonly dx: Tensor;
  /** On the host: inputs [R] or [R,width], outputs [R]. */
  readonly inputs: Tensors;
  readonly outputs: Tensors;
  readonly bindings: Map<HeadPass, Promise<Binding>>;
}

type Tensors = Readonly<Record<string, Tensor>>;

type Finish = (chunk: Chunk, begin: number, end: number) => Promise<void>;

export class Head implements Disposable {
  readonly definition: HeadDefinition;
  readonly #runtime: Runtime;
  readonly #width: number;
  readonly #store: ParameterStore;
  readonly #moves: RowMoves;
  readonly #scope = new Scope();
  readonly #chunks = new Map<number, Chunk>();
  readonly #sessions = new Map<string, Promise<Session>>();
  #bound = new Scope();
  #lent: Tensors = {};
  readonly #scalars: Readonly<Record<string, Tensor>>;

  /** `width`: D. */
  constructor(
    runtime: Runtime,
    definition: HeadDefinition,
    width: number,
    store: ParameterStore,
    moves: RowMoves,
  ) {
    this.definition = definition;
    this.#runtime = runtime;
    this.#width = width;
    this.#store = store;
    this.#moves = moves;
    this.#scalars = Object.fromEntries(
      definition.scalars.map((name) => [name, this.#scope.own(runtime.tensor('float32', []))]),
    );
  }

  /**
   * Computes with `tensors`, another model's, by the names of the definition's `lent`, until the result is disposed: then
   * nothing of them is held any more. What was compiled stays.
   */
  lend(tensors: Tensors): Disposable {
    this.#lent = tensors;
    return { [Symbol.dispose]: () => this.#unbind() };
  }

  #unbind(): void {
    this.#lent = {};
    for (const { bindings } of this.#chunks.values()) bindings.clear();
    this.#bound[Symbol.dispose]();
    this.#bound = new Scope();
  }

  /** What the head makes of the hidden states `hidden` [T,D] at rows [R]. */
  score(hidden: Tensor, rows: HeadRows, scalars: HeadScalars): Promise<HeadResult> {
    return this.#overChunks(hidden, rows, scalars, () => 'score');
  }

  /**
   * The same, and the gradients of its loss: those of the head's parameters join theirs (overwriting them if `first`),
   * that of the hidden states is written to `cotangent` [T,D], 0 at all other rows.
   */
  async train(
    hidden: Tensor,
    rows: HeadRows,
    scalars: HeadScalars,
    cotangent: Tensor,
    first: boolean,
  ): Promise<HeadResult> {
    await cotangent.zero();
    return await this.#overChunks(
      hidden,
      rows,
      scalars,
      (begin) => (first && begin === 0 ? 'backward' : 'accumulate'),
      (chunk, begin, end) => this.#moves.place(chunk.dx, rows.rows_R.subarray(begin, end), cotangent),
    );
  }

  async #overChunks(
    hidden: Tensor,
    rows: HeadRows,
    scalars: HeadScalars,
    passAt: (begin: number) => HeadPass,
    finish: Finish = () => Promise.resolve(),
  ): Promise<HeadResult> {
    const count = rows.rows_R.length;
    const { rowOutputs, chunkSize } = this.definition;
    const result = Object.fromEntries(rowOutputs.map((name) => [name, new Float32Array(count)]));
    for (const [name, value] of Object.entries(scalars))
      (this.#scalars[name]!.data as Float32Array)[0] = value;
    for (let begin = 0; begin < count;) {
      const chunk = this.#chunk(chunkSize(count - begin));
      const end = Math.min(count, begin + chunk.size);
      await this.#fill(chunk, hidden, rows, begin, end);
      await (await this.#binding(chunk, passAt(begin))).run();
      for (const name of rowOutputs) {
        const made = chunk.outputs[name]!.data as Float32Array;
        result[name]!.set(made.subarray(0, end - begin), begin);
      }
      await finish(chunk, begin, end);
      begin = end;
    }
    return result;
  }

  async #fill(
    chunk: Chunk,
    hidden: Tensor,
    { rows_R, inputs }: HeadRows,
    begin: number,
    end: number,
  ): Promise<void> {
    // What earlier runs left in the filling rows is finite and has no weight.
    await this.#moves.pick(hidden, rows_R.subarray(begin, end), chunk.x);
    for (const [name, tensor] of Object.entries(chunk.inputs)) {
      const given = inputs[name];
      if (given === undefined) throw new Error(`internal: the ${this.definition.name} was given no ${name}`);
      const width = tensor.dims[1] ?? 1;
      (tensor.data as Float32Array).fill(0).set(given.subarray(begin * width, end * width));
    }
  }

  #chunk(size: number): Chunk {
    const known = this.#chunks.get(size);
    if (known !== undefined) return known;
    const { rowInputs, trainingInputs, rowOutputs } = this.definition;
    const rows = (): Tensor => this.#scope.own(this.#runtime.allocate('float32', [size, this.#width]));
    const column = (input: RowInput): Tensor =>
      this.#scope.own(
        typeof input === 'string'
          ? this.#runtime.tensor(input, [size])
          : this.#runtime.tensor('float32', [size, input.width]),
      );
    const chunk: Chunk = {
      size,
      x: rows(),
      dx: rows(),
      inputs: Object.fromEntries(
        Object.entries({ ...rowInputs, ...trainingInputs }).map(([name, input]) => [name, column(input)]),
      ),
      outputs: Object.fromEntries(rowOutputs.map((name) => [name, column('float32')])),
      bindings: new Map(),
    };
    this.#chunks.set(size, chunk);
    return chunk;
  }

  #binding(chunk: Chunk, pass: HeadPass): Promise<Binding> {
    const known = chunk.bindings.get(pass);
    if (known !== undefined) return known;
    const binding = this.#bind(chunk, pass);
    chunk.bindings.set(pass, binding);
    return binding;
  }

  async #bind({ size, x, dx, inputs: given, outputs: made }: Chunk, pass: HeadPass): Promise<Binding> {
    const { parameters, rowInputs } = this.definition;
    const session = await this.#session(pass, size);
    const inputs: Record<string, Tensor> = { x, ...this.#scalars, ...this.#lentByName() };
    const outputs: Record<string, Tensor> = { ...made };
    for (const [input, tensor] of Object.entries(given))
      if (pass !== 'score' || input in rowInputs) inputs[input] = tensor;
    if (pass !== 'score') outputs['d_x'] = dx;
    for (const [role, parameter] of Object.entries(parameters)) {
      inputs[role] = this.#store.weight(parameter);
      if (!this.#store.trains(parameter)) continue;
      if (pass === 'accumulate') inputs[previousOf(role)] = this.#store.gradient(parameter);
      if (pass !== 'score') outputs[gradientOf(role)] = this.#store.gradient(parameter);
    }
    return this.#bound.own(session.bind(inputs, outputs));
  }

  #lentByName(): Tensors {
    const { name, lent = [] } = this.definition;
    return Object.fromEntries(
      lent.map((role) => {
        const tensor = this.#lent[role];
        if (tensor === undefined) throw new Error(`internal: the ${name} was lent no ${role}`);
        return [role, tensor];
      }),
    );
  }

  #session(pass: HeadPass, size: number): Promise<Session> {
    const { name, graph } = this.definition;
    const label = `${name} ${pass} [${size}]`;
    const known = this.#sessions.get(label);
    if (known !== undefined) return known;
    const created = this.#runtime.createSession(serialize(graph(pass, size), label), { label });
    const owned = created.then((session) => this.#scope.own(session));
    this.#sessions.set(label, owned);
    return owned;
  }

  [Symbol.dispose](): void {
    this.#bound[Symbol.dispose]();
    this.#scope[Symbol.dispose]();
  }
}
