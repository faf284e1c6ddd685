// AdamW in place over flat arenas, chunk by chunk: 16 bytes a parameter and no copies. Knows no tensors; weight
// decay applies below one boundary of the arena. Clips by the global norm of the gradient.

import type { Graph } from '../graph/graph.ts';
import { serialize } from '../onnx/serialize.ts';
import { Scope } from '../ort/scope.ts';
import type { Binding, Runtime, Session, Tensor } from '../ort/runtime.ts';
import { adamwGraph, scalarNames, squareSumsGraph } from './adamw-graph.ts';
import type { AdamWScalars } from './adamw-graph.ts';
import { flatChunks } from './flat-chunks.ts';
import type { FlatChunk } from './flat-chunks.ts';

export interface AdamWOptions {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Largest global norm of the gradient that is let through as it is; undefined: no clipping. */
  readonly clipNorm?: number | undefined;
}

export interface StepReport {
  /** Global norm of the gradient before clipping. Not finite: nothing was changed. */
  readonly gradNorm: number;
  /** Norm of what was subtracted from the weights, weight decay included; 0 where nothing was. */
  readonly updateNorm: number;
}

export interface OptimizedArenas {
  readonly weights: Float32Array;
  readonly gradients: Float32Array;
  readonly firstMoment: Float32Array;
  readonly secondMoment: Float32Array;
  /** Elements before this one are subject to weight decay. */
  readonly decayedSize: number;
}

interface BoundChunk {
  readonly binding: Binding;
  readonly squares: Float32Array;
}

type ScalarTensors = Record<keyof AdamWScalars, Tensor>;

export class AdamW implements Disposable {
  /** Updates since the moments were last reset: what the bias correction counts. */
  stepCount = 0;
  readonly #runtime: Runtime;
  readonly #arenas: OptimizedArenas;
  readonly #scope = new Scope();
  readonly #sessions = new Map<string, Session>();
  /** One set of scalars with weight decay, one without. */
  readonly #scalars: readonly [ScalarTensors, ScalarTensors];
  #norm: readonly BoundChunk[] = [];
  #update: readonly BoundChunk[] = [];

  private constructor(runtime: Runtime, arenas: OptimizedArenas) {
    this.#runtime = runtime;
    this.#arenas = arenas;
    const scalars = (): ScalarTensors =>
      Object.fromEntries(
        scalarNames.map((name) => [name, this.#scope.own(runtime.tensor('float32', []))]),
      ) as ScalarTensors;
    this.#scalars = [scalars(), scalars()];
  }

  static async create(runtime: Runtime, arenas: OptimizedArenas): Promise<AdamW> {
    const optimizer = new AdamW(runtime, arenas);
    try {
      await optimizer.#bindAll();
      return optimizer;
    } catch (error) {
      optimizer[Symbol.dispose]();
      throw error;
    }
  }

  /** One update from the gradients in the arena, which stay as they are. */
  async step(options: AdamWOptions): Promise<StepReport> {
    const gradNorm = Math.sqrt(await sumOver(this.#norm));
    if (!Number.isFinite(gradNorm)) return { gradNorm, updateNorm: 0 };
    this.stepCount++;
    const { clipNorm = Infinity, weightDecay } = options;
    const scale = gradNorm > clipNorm ? clipNorm / gradNorm : 1;
    setScalars(this.#scalars[0], scalarsAt(this.stepCount, options, scale, weightDecay));
    setScalars(this.#scalars[1], scalarsAt(this.stepCount, options, scale, 0));
    return { gradNorm, updateNorm: Math.sqrt(await sumOver(this.#update)) };
  }

  resetMoments(): void {
    this.stepCount = 0;
    this.#arenas.firstMoment.fill(0);
    this.#arenas.secondMoment.fill(0);
  }

  async #bindAll(): Promise<void> {
    const { gradients, decayedSize } = this.#arenas;
    const size = gradients.length;
    this.#norm = await inTurn(flatChunks(0, size), (chunk) => this.#bindNorm(chunk));
    const decayed = await inTurn(flatChunks(0, decayedSize), (chunk) =>
      this.#bindUpdate(chunk, this.#scalars[0]),
    );
    const rest = await inTurn(flatChunks(decayedSize, size), (chunk) =>
      this.#bindUpdate(chunk, this.#scalars[1]),
    );
    this.#update = [...decayed, ...rest];
  }

  async #bindNorm(chunk: FlatChunk): Promise<BoundChunk> {
    const graph = squareSumsGraph(chunk.end - chunk.begin);
    const session = await this.#session('gradient norm', chunk, graph);
    const squares = this.#squares(graph, 'squares');
    return this.#bound(session, { x: this.#part(this.#arenas.gradients, chunk) }, { squares }, squares);
  }

  async #bindUpdate(chunk: FlatChunk, scalars: ScalarTensors): Promise<BoundChunk> {
    const graph = adamwGraph(chunk.end - chunk.begin);
    const session = await this.#session('AdamW', chunk, graph);
    const { weights, gradients, firstMoment, secondMoment } = this.#arenas;
    const [weight, gradient, first, second] = [weights, gradients, firstMoment, secondMoment].map((arena) =>
      this.#part(arena, chunk),
    ) as [Tensor, Tensor, Tensor, Tensor];
    const squares = this.#squares(graph, 'update_squares');
    const outputs = { new_weight: weight, new_first: first, new_second: second, update_squares: squares };
    return this.#bound(session, { weight, gradient, first, second, ...scalars }, outputs, squares);
  }

  async #session(what: string, { begin, end }: FlatChunk, graph: Graph): Promise<Session> {
    const label = `${what} [${end - begin}]`;
    const known = this.#sessions.get(label);
    if (known !== undefined) return known;
    const session = this.#scope.own(await this.#runtime.createSession(serialize(graph, label), { label }));
    this.#sessions.set(label, session);
    return session;
  }

  #part(arena: Float32Array, { begin, end }: FlatChunk): Tensor {
    return this.#scope.own(this.#runtime.tensor('float32', [end - begin], arena.subarray(begin, end)));
  }

  #squares(graph: Graph, output: string): Tensor {
    return this.#scope.own(this.#runtime.tensor('float32', graph.outputs.get(output)!.shape));
  }

  #bound(
    session: Session,
    inputs: Record<string, Tensor>,
    outputs: Record<string, Tensor>,
    squares: Tensor,
  ): BoundChunk {
    return { binding: this.#scope.own(session.bind(inputs, outputs)), squares: squares.data as Float32Array };
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}

function scalarsAt(
  step: number,
  { lr, beta1, beta2, eps }: AdamWOptions,
  scale: number,
  weightDecay: number,
): AdamWScalars {
  const rootCorrection2 = Math.sqrt(1 - beta2 ** step);
  return {
    beta1,
    gradientShare: (1 - beta1) * scale,
    beta2,
    squareShare: (1 - beta2) * scale * scale,
    stepSize: (lr * rootCorrection2) / (1 - beta1 ** step),
    epsilon: eps * rootCorrection2,
    decay: lr * weightDecay,
  };
}

function setScalars(tensors: ScalarTensors, scalars: AdamWScalars): void {
  for (const name of scalarNames) (tensors[name].data as Float32Array)[0] = scalars[name];
}

/** Runs chunks in order and adds their sums in float64: the same result whatever the number of threads. */
async function sumOver(chunks: readonly BoundChunk[]): Promise<number> {
  let total = 0;
  for (const { binding, squares } of chunks) {
    await binding.run();
    for (const sum of squares) total += sum;
  }
  return total;
}

async function inTurn<T, R>(items: readonly T[], each: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await each(item));
  return results;
}
