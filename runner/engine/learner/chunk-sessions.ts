// The compiled passes over the block of one long sequence, chunk by chunk, each when first asked for.
// Attention is compiled for a few numbers of keys: a chunk early in the sequence is not shown all of it.

import type { Graph } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import {
  chunkAttentionBackwardGraph,
  chunkAttentionGraph,
  chunkEndBackwardGraph,
  chunkEndGraph,
  chunkProjectionBackwardGraph,
  chunkProjectionGraph,
} from '../models/decoder-chunks.ts';
import {
  joinChunksGraph,
  pickedAttentionBackwardGraph,
  pickedAttentionGraph,
} from '../models/decoder-long.ts';
import { embeddingGraph } from '../models/decoder-ends.ts';
import type { ModelForm } from '../models/model-form.ts';
import { rotaryTables } from '../models/rotary-tables.ts';
import { serialize } from '../onnx/serialize.ts';
import { Scope } from '../ort/scope.ts';
import type { Runtime, Session } from '../ort/runtime.ts';
import { rowChunk } from './slices.ts';

export type RowPass = 'embed' | 'project' | 'end' | 'projectBackward' | 'endBackward';
export type AttentionPass = 'attend' | 'attendBackward';

export interface ChunkShape {
  /** Tokens of the sequence, S. */
  readonly length: number;
  /** Queries of an attention chunk, C: a divisor of S. */
  readonly queries: number;
}

/** Different numbers of keys that attention is compiled for. */
const keySteps = 8;

export class ChunkSessions implements Disposable {
  readonly length: number;
  readonly queries: number;
  /** Rows of the other passes' chunks, R: a divisor of S. */
  readonly rows: number;
  /** Rotations of all positions, [S,hd/2] each, in the order of `rotationNames`. */
  readonly rotations: readonly Float32Array[];
  /** Chunks are views of a sequence; else, on a device, row passes take it whole and attention picks its chunk of it. */
  readonly viewed: boolean;
  readonly #runtime: Runtime;
  readonly #graphs: Readonly<Record<RowPass, () => Graph>>;
  readonly #attention: Readonly<Record<AttentionPass, (keys: number) => Graph>>;
  readonly #join: () => Graph;
  readonly #scope = new Scope();
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor(runtime: Runtime, config: DecoderConfig, { length, queries }: ChunkShape, form: ModelForm) {
    const viewed = runtime.provider === 'cpu';
    const rows = viewed ? rowChunk(config, length) : length;
    const [query, key] = [1 / Math.sqrt(config.headSize), 1].map((scale) =>
      rotaryTables(config, length, scale),
    ) as [ReturnType<typeof rotaryTables>, ReturnType<typeof rotaryTables>];
    this.length = length;
    this.viewed = viewed;
    this.queries = queries;
    this.rows = rows;
    this.rotations = [query.cos, query.sin, key.cos, key.sin];
    this.#runtime = runtime;
    this.#graphs = {
      embed: () => embeddingGraph(config, rows),
      project: () => chunkProjectionGraph(config, rows, form),
      end: () => chunkEndGraph(config, rows, form),
      projectBackward: () => chunkProjectionBackwardGraph(config, rows, form),
      endBackward: () => chunkEndBackwardGraph(config, rows, form),
    };
    this.#attention = {
      attend: (keys) =>
        viewed
          ? chunkAttentionGraph(config, { queries, keys })
          : pickedAttentionGraph(config, { queries, keys, length }),
      attendBackward: (keys) =>
        viewed
          ? chunkAttentionBackwardGraph(config, { queries, keys })
          : pickedAttentionBackwardGraph(config, { queries, keys, length }),
    };
    this.#join = () => joinChunksGraph(length / queries, queries, config.heads * config.headSize);
  }

  rowSession(pass: RowPass): Promise<Session> {
    return this.#session(`${pass} [${this.rows}]`, this.#graphs[pass]);
  }

  attentionSession(pass: AttentionPass, keys: number): Promise<Session> {
    return this.#session(`${pass} [${this.queries}x${keys}]`, () => this.#attention[pass](keys));
  }

  /** Puts what attention made of the chunks together, where they are no views. */
  joinSession(): Promise<Session> {
    return this.#session(`join [${this.length / this.queries} x ${this.queries}]`, this.#join);
  }

  /** Keys that chunk `chunk` of the queries is shown: from the first to at least its own last. */
  keysOf(chunk: number): number {
    return keysOfChunk(this.length, this.queries, chunk);
  }

  #session(label: string, graph: () => Graph): Promise<Session> {
    const known = this.#sessions.get(label);
    if (known !== undefined) return known;
    const created = this.#runtime.createSession(serialize(graph(), label), { label });
    const owned = created.then((session) => this.#scope.own(session));
    this.#sessions.set(label, owned);
    return owned;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }
}

export function keysOfChunk(length: number, queries: number, chunk: number): number {
  const chunks = length / queries;
  const step = Math.ceil(chunks / keySteps);
  return Math.min(chunks, Math.ceil((chunk + 1) / step) * step) * queries;
}
