// The compiled passes over embedding and one block for slices of one shape. Compiled when first asked for: a model that is
// only scored never compiles a backward.

import type { Graph, ValueType } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import { blockRecomputingGraph, blockScoringGraph, blockTrainingGraphs } from '../models/decoder-block.ts';
import type { BatchShape } from '../models/decoder-block.ts';
import { embeddingGraph } from '../models/decoder-ends.ts';
import type { ModelForm } from '../models/model-form.ts';
import { serialize } from '../onnx/serialize.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Session } from '../ort/runtime.ts';

/**
 * `score` is a block's forward that keeps nothing. `backward` writes a layer's weight gradients (the first
 * slice of a step), `accumulate` adds to them (the others); `recompute` and `recomputeAccumulate` are the same
 * without a `forward` before them, from the block's input.
 */
export type TrunkPass =
  'embed' | 'score' | 'forward' | 'backward' | 'accumulate' | 'recompute' | 'recomputeAccumulate';

export class TrunkSessions implements Disposable {
  /** Rows of a slice, B * S. */
  readonly rows: number;
  /** What a block's forward hands to its backward, by name. */
  readonly kept: ReadonlyMap<string, ValueType>;
  readonly #runtime: Runtime;
  readonly #graphs: Readonly<Record<TrunkPass, () => Graph>>;
  readonly #label: string;
  readonly #scope = new Scope();
  readonly #sessions = new Map<TrunkPass, Promise<Session>>();

  constructor(runtime: Runtime, config: DecoderConfig, shape: BatchShape, form: ModelForm) {
    this.rows = shape.batch * shape.length;
    const training = blockTrainingGraphs(config, shape, false, form);
    this.#runtime = runtime;
    this.#label = `[${shape.batch}x${shape.length}]`;
    this.kept = new Map(training.kept.map(({ name, value }) => [name, value]));
    this.#graphs = {
      embed: () => embeddingGraph(config, this.rows),
      score: () => blockScoringGraph(config, shape, form),
      forward: () => training.forward,
      backward: () => training.backward,
      accumulate: () => blockTrainingGraphs(config, shape, true, form).backward,
      recompute: () => blockRecomputingGraph(config, shape, false, form),
      recomputeAccumulate: () => blockRecomputingGraph(config, shape, true, form),
    };
  }

  session(pass: TrunkPass): Promise<Session> {
    const known = this.#sessions.get(pass);
    if (known !== undefined) return known;
    const label = `${pass} ${this.#label}`;
    const created = this.#runtime.createSession(serialize(this.#graphs[pass](), label), { label });
    const owned = created.then((session) => this.#scope.own(session));
    this.#sessions.set(pass, owned);
    return owned;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}
