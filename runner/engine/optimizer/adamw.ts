// AdamW in place, piece by piece: 16 bytes a parameter and no copies. Knows no parameters, only pieces that are subject to
// weight decay or not. Clips by the global norm of the gradient.

import type { Graph } from '../graph/graph.ts';
import { serialize } from '../onnx/serialize.ts';
import { Scope } from '../ort/scope.ts';
import type { Binding, Runtime, Session, Tensor } from '../ort/runtime.ts';
import { adamwGraph, scalarNames, squareSumsGraph } from './adamw-graph.ts';
import type { AdamWScalars } from './adamw-graph.ts';

export interface AdamWOptions {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Largest global norm of the gradient that is let through as it is; undefined: no clipping. */
  readonly clipNorm?: number | undefined;
  /** What the loss was multiplied by; the update divides it out. */
  readonly lossScale?: number | undefined;
}

export interface StepReport {
  /** Global norm of the gradient before clipping, the loss scale divided out. Not finite: nothing was changed. */
  readonly gradNorm: number;
  /** Norm of what was subtracted from the weights, weight decay included; 0 where nothing was. */
  readonly updateNorm: number;
}

/** Tensors of one shape: a parameter, or a run of neighbours. */
export interface UpdatePiece {
  readonly weight: Tensor;
  readonly gradient: Tensor;
  readonly first: Tensor;
  readonly second: Tensor;
  /** Subject to weight decay. */
  readonly decayed: boolean;
}

/** The tensors stay the caller's. */
export interface OptimizedParameters {
  /** All gradients once, cut as it suits their norm. */
  readonly gradients: readonly Tensor[];
  readonly updates: readonly UpdatePiece[];
}

interface BoundPiece {
  readonly binding: Binding;
  readonly squares: Float32Array;
}

type ScalarTensors = Record<keyof AdamWScalars, Tensor>;

export class AdamW implements Disposable {
  /** Updates since the moments were last reset: what the bias correction counts. */
  stepCount = 0;
  readonly #runtime: Runtime;
  readonly #parameters: OptimizedParameters;
  readonly #scope = new Scope();
  readonly #sessions = new Map<string, Session>();
  /** One set of scalars with weight decay, one without. */
  readonly #scalars: readonly [ScalarTensors, ScalarTensors];
  #norm: readonly BoundPiece[] = [];
  #update: readonly BoundPiece[] = [];

  private constructor(runtime: Runtime, parameters: OptimizedParameters) {
    this.#runtime = runtime;
    this.#parameters = parameters;
    const scalars = (): ScalarTensors =>
      Object.fromEntries(
        scalarNames.map((name) => [name, this.#scope.own(runtime.tensor('float32', []))]),
      ) as ScalarTensors;
    this.#scalars = [scalars(), scalars()];
  }

  static async create(runtime: Runtime, parameters: OptimizedParameters): Promise<AdamW> {
    const optimizer = new AdamW(runtime, parameters);
    try {
      await optimizer.#bindAll();
      return optimizer;
    } catch (error) {
      optimizer[Symbol.dispose]();
      throw error;
    }
  }

  /** One update from the gradients, which stay as they are. */
  async step(options: AdamWOptions): Promise<StepReport> {
    const { clipNorm = Infinity, weightDecay, lossScale = 1 } = options;
    const gradNorm = Math.sqrt(await sumOver(this.#norm)) / lossScale;
    if (!Number.isFinite(gradNorm)) return { gradNorm, updateNorm: 0 };
    this.stepCount++;
    const scale = (gradNorm > clipNorm ? clipNorm / gradNorm : 1) / lossScale;
    setScalars(this.#scalars[0], scalarsAt(this.stepCount, options, scale, weightDecay));
    setScalars(this.#scalars[1], scalarsAt(this.stepCount, options, scale, 0));
    return { gradNorm, updateNorm: Math.sqrt(await sumOver(this.#update)) };
  }

  async resetMoments(): Promise<void> {
    this.stepCount = 0;
    for (const { first, second } of this.#parameters.updates) {
      await first.zero();
      await second.zero();
    }
  }

  async #bindAll(): Promise<void> {
    const { gradients, updates } = this.#parameters;
    this.#norm = await inTurn(gradients, (gradient) => this.#bindNorm(gradient));
    this.#update = await inTurn(updates, (piece) => this.#bindUpdate(piece));
  }

  async #bindNorm(gradient: Tensor): Promise<BoundPiece> {
    const graph = squareSumsGraph(gradient.dims);
    const session = await this.#session('gradient norm', gradient.dims, graph);
    const squares = this.#squares(graph, 'squares');
    return this.#bound(session, { x: gradient }, { squares }, squares);
  }

  async #bindUpdate({ weight, gradient, first, second, decayed }: UpdatePiece): Promise<BoundPiece> {
    const graph = adamwGraph(weight.dims);
    const session = await this.#session('AdamW', weight.dims, graph);
    const squares = this.#squares(graph, 'update_squares');
    const scalars = this.#scalars[decayed ? 0 : 1];
    const outputs = { new_weight: weight, new_first: first, new_second: second, update_squares: squares };
    return this.#bound(session, { weight, gradient, first, second, ...scalars }, outputs, squares);
  }

  async #session(what: string, dims: readonly number[], graph: Graph): Promise<Session> {
    const label = `${what} [${dims.join('x')}]`;
    const known = this.#sessions.get(label);
    if (known !== undefined) return known;
    const session = this.#scope.own(await this.#runtime.createSession(serialize(graph, label), { label }));
    this.#sessions.set(label, session);
    return session;
  }

  #squares(graph: Graph, output: string): Tensor {
    return this.#scope.own(this.#runtime.tensor('float32', graph.outputs.get(output)!.shape));
  }

  #bound(
    session: Session,
    inputs: Record<string, Tensor>,
    outputs: Record<string, Tensor>,
    squares: Tensor,
  ): BoundPiece {
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

/** Runs pieces in order and adds their sums in float64: the same result whatever the number of threads. */
async function sumOver(pieces: readonly BoundPiece[]): Promise<number> {
  let total = 0;
  for (const { binding, squares } of pieces) {
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
