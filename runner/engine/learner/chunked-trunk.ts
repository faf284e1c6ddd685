// Embedding and blocks over long sequences, one sequence at a time and chunk by chunk. Blocks keep only their inputs:
// the backward projects and attends again, and the softmax of a chunk is made a third time inside its gradient.
// Chunks run in ascending order, always: sums over them are the same every time.

import type { DecoderConfig } from '../models/config.ts';
import { blockInputRoles, gradientOf, previousOf, trainedRoles } from '../models/decoder-block.ts';
import type { BlockInputRole } from '../models/decoder-block.ts';
import { rotationNames, trainedEndRoles, trainedProjectionRoles } from '../models/decoder-chunks.ts';
import { embeddingName } from '../models/decoder-tensors.ts';
import { Scope } from '../ort/scope.ts';
import type { Binding, Runtime, Session, Tensor } from '../ort/runtime.ts';
import { chunkBufferDims, chunkBuffers } from './chunk-buffers.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import type { ChunkSessions, RowPass } from './chunk-sessions.ts';
import type { ParameterStore } from './parameter-store.ts';
import type { RowMoves } from './row-moves.ts';
import type { Scratch } from './scratch.ts';
import { rowsOf, sequenceAttention } from './sequence-attention.ts';
import type { SequenceAttention } from './sequence-attention.ts';
import type { Trunk, Workspace } from './trunk.ts';

type Tensors = Record<string, Tensor>;

interface Ends {
  readonly inputs: Tensors;
  readonly outputs: Tensors;
}

/** Where a pass over rows works: a layer, and a sequence of the micro-batch. */
interface Place {
  readonly layer: number;
  readonly sequence: number;
}

interface BoundBuffers extends ChunkBuffers {
  readonly attention: SequenceAttention;
}

export class ChunkedTrunk implements Trunk {
  readonly #runtime: Runtime;
  readonly #config: DecoderConfig;
  readonly #store: ParameterStore;
  readonly #scratch: Scratch;
  readonly #moves: RowMoves;
  readonly #sessions: ChunkSessions;
  readonly #batch: number;
  readonly #tokens: Int32Array;
  #bindings = new Map<string, Binding>();
  #bound = new Scope();
  #buffers: BoundBuffers | undefined;

  /** The sessions are the caller's: trunks of one length share them. */
  constructor(
    runtime: Runtime,
    config: DecoderConfig,
    batch: number,
    sessions: ChunkSessions,
    store: ParameterStore,
    { scratch, moves }: Workspace,
  ) {
    this.#runtime = runtime;
    this.#config = config;
    this.#store = store;
    this.#scratch = scratch;
    this.#moves = moves;
    this.#sessions = sessions;
    this.#batch = batch;
    this.#tokens = new Int32Array(batch * sessions.length);
  }

  async forward(tokens_BS: Int32Array): Promise<Tensor> {
    this.#tokens.set(tokens_BS);
    await this.#perSequence(0, (place) => this.#overRows('embed', place));
    for (let layer = 0; layer < this.#config.layers; layer++)
      await this.#perSequence(layer, async (place) => {
        await this.#attend(place);
        await this.#overRows('end', place);
      });
    return this.#current().hidden.at(-1)!;
  }

  get outputCotangent(): Tensor {
    return this.#cotangent(this.#config.layers);
  }

  async backward(first: boolean): Promise<void> {
    for (let layer = this.#config.layers - 1; layer >= 0; layer--) {
      if (first)
        for (const role of trainedRoles(this.#config, this.#store.form))
          await this.#store.blockGradient(layer, role).zero();
      await this.#perSequence(layer, (place) => this.#blockBackward(place));
    }
    if (this.#store.trains(embeddingName))
      await this.#moves.add(this.#cotangent(0), this.#tokens, this.#store.gradient(embeddingName));
  }

  async #blockBackward(place: Place): Promise<void> {
    await this.#attend(place);
    await this.#overRows('endBackward', place);
    const { d_keys, d_values } = this.#current().sequence;
    for (const gradient of [d_keys, d_values]) await gradient.zero();
    await this.#current().attention.run('attendBackward');
    await this.#overRows('projectBackward', place);
  }

  async #attend(place: Place): Promise<void> {
    await this.#overRows('project', place);
    await this.#current().attention.run('attend');
  }

  async #perSequence(layer: number, run: (place: Place) => Promise<void>): Promise<void> {
    for (let sequence = 0; sequence < this.#batch; sequence++) await run({ layer, sequence });
  }

  async #overRows(pass: RowPass, { layer, sequence }: Place): Promise<void> {
    const { length, rows } = this.#sessions;
    for (let begin = 0; begin < length; begin += rows) {
      const binding = await this.#binding(
        `${pass} ${layer} ${sequence} ${begin}`,
        () => this.#sessions.rowSession(pass),
        (scope) => this.#rowEnds(scope, pass, layer, sequence * length + begin, begin),
      );
      await binding.run();
    }
  }

  async #binding(
    key: string,
    sessionOf: () => Promise<Session>,
    endsOf: (scope: Scope) => Ends,
  ): Promise<Binding> {
    this.#current();
    const known = this.#bindings.get(key);
    if (known !== undefined) return known;
    const session = await sessionOf();
    const { inputs, outputs } = endsOf(this.#bound);
    const used = Object.fromEntries(session.inputNames.map((name) => [name, inputs[name]!]));
    const binding = this.#bound.own(session.bind(used, outputs));
    this.#bindings.set(key, binding);
    return binding;
  }

  /** `row` is the chunk's first row in the micro-batch, `begin` in its sequence. */
  #rowEnds(scope: Scope, pass: RowPass, layer: number, row: number, begin: number): Ends {
    const { rows } = this.#sessions;
    const { hidden, sequence } = this.#current();
    const inBatch = (buffer: Tensor): Tensor => this.#view(scope, buffer, row, rows);
    const inSequence = (buffer: Tensor): Tensor => this.#view(scope, buffer, begin, rows);
    if (pass === 'embed') {
      const tokens = this.#tokens.subarray(row, row + rows);
      const inputs = {
        table: this.#store.weight(embeddingName),
        tokens: scope.own(this.#runtime.tensor('int32', [rows], tokens)),
      };
      return { inputs, outputs: { y: inBatch(hidden[0]!) } };
    }
    const { form } = this.#store;
    const gradients = (roles: readonly BlockInputRole[], named: (role: string) => string): Tensors =>
      Object.fromEntries(roles.map((role) => [named(role), this.#store.blockGradient(layer, role)]));
    const endRoles = trainedEndRoles(this.#config, form);
    const projectionRoles = trainedProjectionRoles(this.#config, form);
    const x: Tensors = {
      x: inBatch(hidden[layer]!),
      ...this.#weights(layer),
      ...this.#rotations(scope, begin),
    };
    const partial = (): Tensor => inBatch(this.#cotangent(layer));
    switch (pass) {
      case 'project':
        return {
          inputs: x,
          outputs: {
            queries: inSequence(sequence.queries),
            keys: inSequence(sequence.keys),
            values: inSequence(sequence.values),
          },
        };
      case 'end':
        return {
          inputs: { ...x, context: inSequence(sequence.context) },
          outputs: { y: inBatch(hidden[layer + 1]!) },
        };
      case 'endBackward':
        return {
          inputs: {
            ...x,
            context: inSequence(sequence.context),
            d_y: inBatch(this.#cotangent(layer + 1)),
            ...gradients(endRoles, previousOf),
          },
          outputs: {
            partial_d_x: partial(),
            d_context: inSequence(sequence.d_context),
            ...gradients(endRoles, gradientOf),
          },
        };
      case 'projectBackward': {
        const d_x = partial();
        return {
          inputs: {
            ...x,
            partial_d_x: d_x,
            d_queries: inSequence(sequence.d_queries),
            d_keys: inSequence(sequence.d_keys),
            d_values: inSequence(sequence.d_values),
            ...gradients(projectionRoles, previousOf),
          },
          outputs: { d_x, ...gradients(projectionRoles, gradientOf) },
        };
      }
    }
  }

  #weights(layer: number): Tensors {
    const roles = blockInputRoles(this.#config, this.#store.form);
    return Object.fromEntries(roles.map((role) => [role, this.#store.blockWeight(layer, role)]));
  }

  /** Of the chunk that begins at that position of its sequence. */
  #rotations(scope: Scope, begin: number): Tensors {
    const { rows, rotations } = this.#sessions;
    const half = this.#config.headSize / 2;
    const part = (table: Float32Array): Float32Array => table.subarray(begin * half, (begin + rows) * half);
    return Object.fromEntries(
      rotationNames.map((name, i) => [
        name,
        scope.own(this.#runtime.tensor('float32', [rows, half], part(rotations[i]!))),
      ]),
    );
  }

  #view(scope: Scope, tensor: Tensor, begin: number, rows: number): Tensor {
    return rowsOf(this.#runtime, scope, tensor, begin, rows);
  }

  #cotangent(layer: number): Tensor {
    return this.#current().cotangents[layer % 2]!;
  }

  /** The shape's buffers: new ones, and no bindings, after the scratch memory has been others'. */
  #current(): BoundBuffers {
    if (this.#buffers !== undefined) return this.#buffers;
    const { layers, hiddenSize: width, heads, kvHeads, headSize } = this.#config;
    const { length, queries, viewed } = this.#sessions;
    const [queryWidth, keyWidth] = [heads * headSize, kvHeads * headSize];
    const tokens = this.#batch * length;
    const apart = viewed ? undefined : queries;
    const shape = { layers, tokens, length, width, queryWidth, keyWidth, apart };
    const tensors = this.#scratch.take(chunkBufferDims(shape), () => this.#release());
    const buffers = chunkBuffers(layers, tensors);
    const attention = sequenceAttention(this.#runtime, this.#bound, this.#sessions, buffers);
    this.#buffers = { ...buffers, attention };
    return this.#buffers;
  }

  #release(): void {
    this.#bindings = new Map();
    this.#bound[Symbol.dispose]();
    this.#bound = new Scope();
    this.#buffers = undefined;
  }

  [Symbol.dispose](): void {
    this.#release();
  }
}
