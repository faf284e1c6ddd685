// Compiled sampling: sessions of recurring shapes with their buffers, for one pair of caches. A program is run by filling
// its inputs in place.
import type { DecoderConfig } from '../models/config.ts';
import { rotaryTables } from '../models/rotary-tables.ts';
import { serialize } from '../onnx/serialize.ts';
import type { Binding, Runtime, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';
import { createCache } from './cache.ts';
import type { KeyValueCache } from './cache.ts';
import type { Draw, DrawVariant } from './choose.ts';
import type { CacheShape } from './cached-blocks.ts';
import { decodeGraph, prefillGraph } from './graphs.ts';
import { prefillLimit } from './prefill-limit.ts';
import type { SamplerWeights } from './sampled-model.ts';

interface Buffers {
  readonly tokens: Int32Array;
  readonly positions: BigInt64Array;
  readonly lastPositions: Int32Array;
  readonly longest: Int32Array;
}

/** What a draw reads; which of it, its variant says. */
interface DrawInputs {
  readonly uniform: Float32Array;
  readonly inverseTemperature: Float32Array;
  readonly topK: Int32Array;
  readonly topP: Float32Array;
  readonly minP: Float32Array;
}

interface DrawOutputs {
  readonly nextTokens: Int32Array;
  readonly logProbs: Float32Array;
  readonly samplingLogProbs: Float32Array;
  readonly logProbsAtOne: Float32Array;
  /** Of a `narrow` draw: above 0 where a row must be drawn again, `wide`. */
  readonly beyond: Float32Array;
}

export interface DecodeProgram extends Buffers, DrawInputs, DrawOutputs {
  readonly binding: Binding;
}

export interface PrefillProgram extends Buffers {
  readonly binding: Binding;
}

export class SamplingPrograms implements Disposable {
  readonly cache: KeyValueCache;
  /** [V]: added to the logits by the biased variants, for all rows alike. */
  readonly logitBias: Float32Array;
  /** Tokens of a prompt that one run computes, at most. */
  readonly prefillLimit: number;
  readonly #runtime: Runtime;
  readonly #config: DecoderConfig;
  readonly #weights: SamplerWeights;
  readonly #scope = new Scope();
  /** cos and sin, where sessions compute. */
  readonly #tables: Readonly<Record<string, Tensor>>;
  readonly #decode = new Map<string, DecodeProgram>();
  readonly #prefill = new Map<number, PrefillProgram>();

  private constructor(
    runtime: Runtime,
    config: DecoderConfig,
    weights: SamplerWeights,
    rows: number,
    capacity: number,
    prefillTokens: number,
  ) {
    this.prefillLimit = prefillTokens;
    this.#runtime = runtime;
    this.#config = config;
    this.#weights = weights;
    this.logitBias = new Float32Array(config.vocabSize);
    const table = (): Tensor => this.#scope.own(runtime.allocate('float32', [capacity, config.headSize / 2]));
    try {
      this.cache = this.#scope.own(createCache(runtime, config, rows, capacity));
      this.#tables = { cos: table(), sin: table() };
    } catch (error) {
      this.#scope[Symbol.dispose]();
      throw error;
    }
  }

  /** For batches of at most `rows` rows, each of at most `capacity` tokens. The weights' tensors stay the caller's. */
  static async create(
    runtime: Runtime,
    config: DecoderConfig,
    weights: SamplerWeights,
    rows: number,
    capacity: number,
  ): Promise<SamplingPrograms> {
    const programs = new SamplingPrograms(
      runtime,
      config,
      weights,
      rows,
      capacity,
      await prefillLimit(runtime, config),
    );
    const { cos, sin } = rotaryTables(config, capacity);
    try {
      await programs.#tables['cos']!.write(cos);
      await programs.#tables['sin']!.write(sin);
      return programs;
    } catch (error) {
      programs[Symbol.dispose]();
      throw error;
    }
  }

  /** For the first B rows of the cache. */
  async decode(B: number, variant: DrawVariant): Promise<DecodeProgram> {
    const key = `${B} ${variant.draw} ${variant.biased}`;
    const known = this.#decode.get(key);
    if (known) return known;
    const program = { ...newBuffers(B, 1), ...newDrawInputs(B), ...newDrawOutputs(B) };
    const caches = this.cache.batch(B);
    const binding = await this.#compile(
      decodeGraph(this.#config, { ...this.#shape, B }, variant),
      `decode [${B}] ${variant.draw} of ${this.cache.capacity}`,
      {
        ...this.#inputs(program, B, 1),
        ...this.#weights.tensors,
        ...this.#drawInputs(program, B, variant),
        ...caches.inputs,
      },
      { ...this.#drawOutputs(program, B, variant.draw), ...caches.outputs },
    );
    const compiled = { ...program, binding };
    this.#decode.set(key, compiled);
    return compiled;
  }

  get vocabSize(): number {
    return this.#config.vocabSize;
  }

  get #shape(): Omit<CacheShape, 'B'> {
    const { joined, form } = this.#weights;
    return { capacity: this.cache.capacity, joined, form, onCpu: this.#runtime.provider === 'cpu' };
  }

  /** S tokens into the prompt cache. */
  async prefill(S: number): Promise<PrefillProgram> {
    const known = this.#prefill.get(S);
    if (known) return known;
    const buffers = newBuffers(1, S);
    const weights = Object.fromEntries(
      Object.entries(this.#weights.tensors).filter(([name]) => name !== 'head' && name !== 'final_norm'),
    );
    const caches = this.cache.prompt();
    const graph = prefillGraph(this.#config, this.#shape, S);
    const binding = await this.#compile(
      graph,
      `prefill [${S}] of ${this.cache.capacity}`,
      { ...this.#inputs(buffers, 1, S), ...weights, ...caches.inputs },
      caches.outputs,
    );
    const compiled = { ...buffers, binding };
    this.#prefill.set(S, compiled);
    return compiled;
  }

  [Symbol.dispose](): void {
    this.#scope[Symbol.dispose]();
  }

  async #compile(
    graph: Parameters<typeof serialize>[0],
    label: string,
    inputs: Record<string, Tensor>,
    outputs: Record<string, Tensor>,
  ): Promise<Binding> {
    // The caches alone are input and output at once, and GroupQueryAttention updates those in place.
    const options = { label, sharedBuffers: true };
    const session = this.#scope.own(await this.#runtime.createSession(serialize(graph, label), options));
    return this.#scope.own(session.bind(inputs, outputs));
  }

  #inputs(buffers: Buffers, B: number, S: number): Record<string, Tensor> {
    return {
      tokens: this.#tensor('int32', [B * S], buffers.tokens),
      positions: this.#tensor('int64', [B, S], buffers.positions),
      last_positions: this.#tensor('int32', [B], buffers.lastPositions),
      longest: this.#tensor('int32', [], buffers.longest),
      ...this.#tables,
    };
  }

  #drawInputs(program: DrawInputs, B: number, { draw, biased }: DrawVariant): Record<string, Tensor> {
    const scalar = (data: Float32Array) => this.#tensor('float32', [], data);
    const inputs: Record<string, Tensor> = {};
    if (biased) inputs['logit_bias'] = this.#tensor('float32', [1, this.vocabSize], this.logitBias);
    if (draw === 'greedy') return inputs;
    inputs['uniform'] = this.#tensor('float32', [B, 1], program.uniform);
    inputs['inverse_temperature'] = scalar(program.inverseTemperature);
    if (draw === 'plain' || draw === 'tempered') return inputs;
    inputs['top_k'] = this.#tensor('int32', [], program.topK);
    inputs['top_p'] = scalar(program.topP);
    inputs['min_p'] = scalar(program.minP);
    return inputs;
  }

  #drawOutputs(program: DrawOutputs, B: number, draw: Draw): Record<string, Tensor> {
    const row = (data: Float32Array) => this.#tensor('float32', [B], data);
    return {
      next_tokens: this.#tensor('int32', [B], program.nextTokens),
      log_probs: row(program.logProbs),
      sampling_log_probs: row(program.samplingLogProbs),
      log_probs_at_one: row(program.logProbsAtOne),
      ...(draw === 'narrow' ? { beyond: row(program.beyond) } : {}),
    };
  }

  #tensor(...args: Parameters<Runtime['tensor']>): Tensor {
    return this.#scope.own(this.#runtime.tensor(...args));
  }
}

const newBuffers = (B: number, S: number): Buffers => ({
  tokens: new Int32Array(B * S),
  positions: new BigInt64Array(B * S),
  lastPositions: new Int32Array(B),
  longest: new Int32Array(1),
});

const newDrawInputs = (B: number): DrawInputs => ({
  uniform: new Float32Array(B),
  inverseTemperature: Float32Array.of(1),
  topK: new Int32Array(1),
  topP: new Float32Array(1),
  minP: new Float32Array(1),
});

const newDrawOutputs = (B: number): DrawOutputs => ({
  nextTokens: new Int32Array(B),
  logProbs: new Float32Array(B),
  samplingLogProbs: new Float32Array(B),
  logProbsAtOne: new Float32Array(B),
  beyond: new Float32Array(B),
});
