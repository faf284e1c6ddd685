// The head over gathered rows, a chunk at a time: rows of hidden states in, log-probabilities and, in training,
// gradients out. Chunks have few recurring sizes; the last one is filled up with rows of weight 0.

import type { DecoderConfig } from '../models/config.ts';
import { gradientOf, previousOf } from '../models/decoder-block.ts';
import { headScoringGraph, headTrainingGraph } from '../models/decoder-ends.ts';
import { finalNormName, headName } from '../models/decoder-tensors.ts';
import { serialize } from '../onnx/serialize.ts';
import { Scope } from '../ort/scope.ts';
import type { Binding, Runtime, Tensor } from '../ort/runtime.ts';
import type { ParameterStore } from './parameter-store.ts';

/** `score` computes no gradient; `backward` writes those of norm and head, `accumulate` adds to them. */
export type HeadPass = 'score' | 'backward' | 'accumulate';

/** One gathered token: the row of its predecessor's hidden state, its id, its ascent weight. */
export interface HeadRows {
  readonly rows_R: Int32Array;
  readonly targets_R: Int32Array;
  readonly weights_R: Float32Array;
}

export interface HeadResult {
  readonly logProbs_R: Float32Array;
  readonly entropies_R: Float32Array;
}

interface Chunk {
  readonly size: number;
  readonly x: Tensor;
  readonly targets: Tensor;
  readonly weights: Tensor;
  readonly logProbs: Tensor;
  readonly entropies: Tensor;
  readonly dx: Tensor;
  readonly bindings: Map<HeadPass, Promise<Binding>>;
}

/** Elements of a chunk's logits [R,V]: 64 MB a tensor, of which a backward holds about four. */
const logitElements = 1 << 24;
/** Even of the smallest vocabulary: the chunk's size must not follow the length of the sequences. */
const mostRows = 4096;

/** Rows of the chunks for `rows` rows: at most what `logitElements` allows, and at most a quarter of it is filling. */
export function headChunkSize(rows: number, vocabSize: number): number {
  const largest = Math.min(mostRows, Math.max(16, 2 ** Math.floor(Math.log2(logitElements / vocabSize))));
  if (rows >= largest) return largest;
  const step = Math.max(16, 2 ** Math.floor(Math.log2(rows)) / 4);
  return Math.ceil(rows / step) * step;
}

export class Head implements Disposable {
  readonly #runtime: Runtime;
  readonly #config: DecoderConfig;
  readonly #store: ParameterStore;
  readonly #scope = new Scope();
  readonly #chunks = new Map<number, Chunk>();
  readonly #inverseTemperature: Tensor;

  constructor(runtime: Runtime, config: DecoderConfig, store: ParameterStore) {
    this.#runtime = runtime;
    this.#config = config;
    this.#store = store;
    this.#inverseTemperature = this.#scope.own(runtime.tensor('float32', []));
  }

  /** Log-probabilities at the temperature of targets [R] after the hidden states `hidden` [T,D] at rows [R]. */
  score(hidden: Float32Array, rows: HeadRows, temperature: number): Promise<HeadResult> {
    return this.#overChunks(hidden, rows, temperature, () => 'score');
  }

  /**
   * The same, and the gradients of loss = - sum weights * log-probability: those of norm and head join the arenas
   * (overwriting them if `first`), that of the hidden states is written to `cotangent` [T,D], 0 at all other rows.
   */
  train(
    hidden: Float32Array,
    rows: HeadRows,
    temperature: number,
    cotangent: Float32Array,
    first: boolean,
  ): Promise<HeadResult> {
    const { hiddenSize: D } = this.#config;
    cotangent.fill(0);
    return this.#overChunks(
      hidden,
      rows,
      temperature,
      (begin) => (first && begin === 0 ? 'backward' : 'accumulate'),
      (chunk, begin, end) => {
        const dx = chunk.dx.data as Float32Array;
        for (let r = begin; r < end; r++)
          cotangent.set(dx.subarray((r - begin) * D, (r - begin + 1) * D), rows.rows_R[r]! * D);
      },
    );
  }

  async #overChunks(
    hidden: Float32Array,
    rows: HeadRows,
    temperature: number,
    passAt: (begin: number) => HeadPass,
    finish: (chunk: Chunk, begin: number, end: number) => void = () => undefined,
  ): Promise<HeadResult> {
    const count = rows.rows_R.length;
    const result = { logProbs_R: new Float32Array(count), entropies_R: new Float32Array(count) };
    (this.#inverseTemperature.data as Float32Array)[0] = 1 / temperature;
    for (let begin = 0; begin < count;) {
      const chunk = this.#chunk(headChunkSize(count - begin, this.#config.vocabSize));
      const end = Math.min(count, begin + chunk.size);
      this.#fill(chunk, hidden, rows, begin, end);
      await (await this.#binding(chunk, passAt(begin))).run();
      result.logProbs_R.set((chunk.logProbs.data as Float32Array).subarray(0, end - begin), begin);
      result.entropies_R.set((chunk.entropies.data as Float32Array).subarray(0, end - begin), begin);
      finish(chunk, begin, end);
      begin = end;
    }
    return result;
  }

  #fill(
    chunk: Chunk,
    hidden: Float32Array,
    { rows_R, targets_R, weights_R }: HeadRows,
    begin: number,
    end: number,
  ): void {
    const { hiddenSize: D } = this.#config;
    const x = chunk.x.data as Float32Array;
    for (let r = begin; r < end; r++)
      x.set(hidden.subarray(rows_R[r]! * D, (rows_R[r]! + 1) * D), (r - begin) * D);
    // What earlier runs left in the filling rows is finite and has weight 0 from here on.
    (chunk.targets.data as Int32Array).fill(0).set(targets_R.subarray(begin, end));
    (chunk.weights.data as Float32Array).fill(0).set(weights_R.subarray(begin, end));
  }

  #chunk(size: number): Chunk {
    const known = this.#chunks.get(size);
    if (known !== undefined) return known;
    const tensor = (dtype: 'float32' | 'int32', dims: number[]): Tensor =>
      this.#scope.own(this.#runtime.tensor(dtype, dims));
    const chunk: Chunk = {
      size,
      x: tensor('float32', [size, this.#config.hiddenSize]),
      targets: tensor('int32', [size]),
      weights: tensor('float32', [size]),
      logProbs: tensor('float32', [size]),
      entropies: tensor('float32', [size]),
      dx: tensor('float32', [size, this.#config.hiddenSize]),
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

  async #bind(chunk: Chunk, pass: HeadPass): Promise<Binding> {
    const label = `head ${pass} [${chunk.size}]`;
    const graph =
      pass === 'score'
        ? headScoringGraph(this.#config, chunk.size)
        : headTrainingGraph(this.#config, chunk.size, pass === 'accumulate');
    const session = this.#scope.own(await this.#runtime.createSession(serialize(graph, label), { label }));
    const names = { norm: finalNormName, head: headName(this.#config) };
    const { x, targets, weights, logProbs, entropies, dx } = chunk;
    const inputs: Record<string, Tensor> = { x, targets, inverse_temperature: this.#inverseTemperature };
    const outputs: Record<string, Tensor> = { log_probs: logProbs, entropy: entropies };
    if (pass !== 'score') Object.assign(inputs, { weights });
    if (pass !== 'score') Object.assign(outputs, { d_x: dx });
    for (const [role, name] of Object.entries(names)) {
      inputs[role] = this.#store.weight(name);
      if (pass === 'accumulate') inputs[previousOf(role)] = this.#store.gradient(name);
      if (pass !== 'score') outputs[gradientOf(role)] = this.#store.gradient(name);
    }
    return this.#scope.own(session.bind(inputs, outputs));
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
