// Attention of one long sequence over chunks of its queries, in ascending order, always: sums over them are the same every
// time. Keys and values, and their gradients, are the sequence's own; all layers and sequences share the buffers.

import type { Binding, Runtime, Session, Tensor } from '../ort/runtime.ts';
import type { Scope } from '../ort/scope.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import type { AttentionPass, ChunkSessions } from './chunk-sessions.ts';

/** `attend`: queries, keys, values -> context. `attendBackward`: those and d_context -> d_queries, d_keys, d_values, which must be zero before it. */
export interface SequenceAttention {
  run(pass: AttentionPass): Promise<void>;
}

type Tensors = Record<string, Tensor>;

interface Ends {
  readonly inputs: Tensors;
  readonly outputs: Tensors;
}

/** `scope` owns what is bound. */
export function sequenceAttention(
  runtime: Runtime,
  scope: Scope,
  sessions: ChunkSessions,
  { sequence, chunks }: ChunkBuffers,
): SequenceAttention {
  if (sessions.viewed)
    return new ChunkLoop(runtime, scope, sessions, viewedEnds(runtime, scope, sessions, sequence));
  const loop = new ChunkLoop(runtime, scope, sessions, pickedEnds(sequence, chunks));
  return new JoinedAttention(loop, sessions, sequence, chunks);
}

/** The part of a sequence from row `begin` on, as a view; the whole is the tensor itself. */
export function rowsOf(runtime: Runtime, scope: Scope, tensor: Tensor, begin: number, rows: number): Tensor {
  const [all, width] = tensor.dims as [number, number];
  if (rows === all) return tensor;
  const part = (tensor.data as Float32Array).subarray(begin * width, (begin + rows) * width);
  return scope.own(runtime.tensor('float32', [rows, width], part));
}

type EndsOf = (pass: AttentionPass, chunk: number, keys: number) => Ends;

class ChunkLoop implements SequenceAttention {
  readonly #runtime: Runtime;
  readonly #scope: Scope;
  readonly #sessions: ChunkSessions;
  readonly #endsOf: EndsOf;
  readonly #bindings = new Map<string, Binding>();

  /** `endsOf`: all but the offset, which is the same for all. */
  constructor(runtime: Runtime, scope: Scope, sessions: ChunkSessions, endsOf: EndsOf) {
    this.#runtime = runtime;
    this.#scope = scope;
    this.#sessions = sessions;
    this.#endsOf = endsOf;
  }

  async run(pass: AttentionPass): Promise<void> {
    const { length, queries } = this.#sessions;
    for (let chunk = 0; chunk < length / queries; chunk++) {
      const keys = this.#sessions.keysOf(chunk);
      const session = (): Promise<Session> => this.#sessions.attentionSession(pass, keys);
      await this.runBound(`${pass} ${chunk}`, session, () => {
        const { inputs, outputs } = this.#endsOf(pass, chunk, keys);
        const offset = this.#runtime.tensor('int32', [], Int32Array.of(chunk * queries));
        return { inputs: { ...inputs, offset: this.#scope.own(offset) }, outputs };
      });
    }
  }

  /** Binds when first run. */
  async runBound(key: string, sessionOf: () => Promise<Session>, endsOf: () => Ends): Promise<void> {
    let binding = this.#bindings.get(key);
    if (binding === undefined) {
      const session = await sessionOf();
      const { inputs, outputs } = endsOf();
      binding = this.#scope.own(session.bind(inputs, outputs));
      this.#bindings.set(key, binding);
    }
    await binding.run();
  }
}

/** Chunks are views of the sequence's buffers. */
const viewedEnds =
  (
    runtime: Runtime,
    scope: Scope,
    { queries: C }: ChunkSessions,
    sequence: ChunkBuffers['sequence'],
  ): EndsOf =>
  (pass, chunk, keys): Ends => {
    const ofChunk = (buffer: Tensor): Tensor => rowsOf(runtime, scope, buffer, chunk * C, C);
    const shown = (buffer: Tensor): Tensor => rowsOf(runtime, scope, buffer, 0, keys);
    const inputs: Tensors = {
      queries: ofChunk(sequence.queries),
      keys: shown(sequence.keys),
      values: shown(sequence.values),
    };
    const context = ofChunk(sequence.context);
    if (pass === 'attend') return { inputs, outputs: { context } };
    const [d_keys, d_values] = [shown(sequence.d_keys), shown(sequence.d_values)];
    return {
      inputs: {
        ...inputs,
        context,
        d_context: ofChunk(sequence.d_context),
        previous_d_keys: d_keys,
        previous_d_values: d_values,
      },
      outputs: { d_queries: ofChunk(sequence.d_queries), d_keys, d_values },
    };
  };

/** Sessions are given the whole sequence and pick their chunk; what they make of it is a tensor of its own. */
const pickedEnds =
  (sequence: ChunkBuffers['sequence'], chunks: readonly Tensor[]): EndsOf =>
  (pass, chunk): Ends => {
    const { queries, keys, values, context, d_context, d_keys, d_values } = sequence;
    const made = chunks[chunk]!;
    if (pass === 'attend') return { inputs: { queries, keys, values }, outputs: { context: made } };
    const previous = { previous_d_keys: d_keys, previous_d_values: d_values };
    return {
      inputs: { queries, keys, values, context, d_context, ...previous },
      outputs: { d_queries: made, d_keys, d_values },
    };
  };

/** What the chunks made is put together at the end. */
class JoinedAttention implements SequenceAttention {
  readonly #loop: ChunkLoop;
  readonly #sessions: ChunkSessions;
  readonly #sequence: ChunkBuffers['sequence'];
  readonly #chunks: Tensors;

  constructor(
    loop: ChunkLoop,
    sessions: ChunkSessions,
    sequence: ChunkBuffers['sequence'],
    chunks: readonly Tensor[],
  ) {
    this.#loop = loop;
    this.#sessions = sessions;
    this.#sequence = sequence;
    this.#chunks = Object.fromEntries(chunks.map((tensor, i) => [`chunk_${i}`, tensor]));
  }

  async run(pass: AttentionPass): Promise<void> {
    await this.#loop.run(pass);
    const whole = pass === 'attend' ? this.#sequence.context : this.#sequence.d_queries;
    const ends = { inputs: this.#chunks, outputs: { whole } };
    await this.#loop.runBound(
      `join ${pass}`,
      () => this.#sessions.joinSession(),
      () => ends,
    );
  }
}
