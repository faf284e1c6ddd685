// Continuous batching over slots: a request takes a slot, its prompt's cache is computed once for its group and copied in,
// and every step advances all slots by one token. A slot that ends is given to the next request; when none waits, the
// slots still at work move together and the batch halves. Limits: float32 on the CPU provider; temperature and greedy only.
import { bucketLength } from '../learner/micro-batches.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';
import type { Completion, SampleOptions, SampleRequest, Sampler } from './completion.ts';
import { SamplingPrograms } from './programs.ts';
import type { DecodeProgram } from './programs.ts';
import { samplerWeights } from './sampler-weights.ts';
import type { SampledModel } from './sampler-weights.ts';

export interface SlotLimits {
  /** Rows decoded at once, at most. */
  readonly rows: number;
  /** Tokens of cache over all rows, at most (one row is always allowed). */
  readonly cacheTokens: number;
}

/** A request at work. `position` is where the token fed next stands in its row. */
interface Active {
  readonly index: number;
  readonly request: SampleRequest;
  readonly tokens: number[];
  readonly logProbs: number[];
  position: number;
  next: number;
}

export class SlotSampler implements Sampler {
  readonly #runtime: Runtime;
  readonly #model: SampledModel;
  readonly #limits: SlotLimits;
  readonly #scope = new Scope();
  readonly #weights: Record<string, Tensor>;
  #programs: SamplingPrograms | undefined;

  constructor(runtime: Runtime, model: SampledModel, limits: SlotLimits = { rows: 512, cacheTokens: 131_072 }) {
    this.#runtime = runtime;
    this.#model = model;
    this.#limits = limits;
    this.#weights = samplerWeights(runtime, this.#scope, model);
  }

  async generate(requests: readonly SampleRequest[], options: SampleOptions): Promise<Completion[]> {
    if (requests.length === 0) return [];
    requests.forEach((request, i) => this.#check(request, i));
    const longest = requests.reduce((most, { prompt, maxTokens }) => Math.max(most, prompt.length + maxTokens), 0);
    const programs = this.#programsFor(requests.length, Math.min(bucketLength(longest), bucketLength(this.#model.config.maxPositions)));
    return new Batch(programs, requests, options).run();
  }

  [Symbol.dispose](): void {
    this.#programs?.[Symbol.dispose]();
    this.#programs = undefined;
    this.#scope[Symbol.dispose]();
  }

  #check({ prompt, maxTokens }: SampleRequest, i: number): void {
    const limit = this.#model.config.maxPositions;
    if (prompt.length === 0) throw new RangeError(`request ${i}: the prompt has no token; begin it with the model's BOS`);
    if (maxTokens < 1) throw new RangeError(`request ${i}: maxTokens is ${maxTokens}, it must be at least 1`);
    if (prompt.length + maxTokens > limit) {
      throw new RangeError(`request ${i}: ${prompt.length} prompt tokens and ${maxTokens} response tokens exceed the model's ${limit} positions`);
    }
  }

  /** Caches and sessions are kept while they suffice: a run's steps are of like shape. */
  #programsFor(requests: number, capacity: number): SamplingPrograms {
    const within = Math.max(1, Math.floor(this.#limits.cacheTokens / capacity));
    const rows = Math.min(powerOfTwoAbove(requests), 2 ** Math.floor(Math.log2(Math.min(this.#limits.rows, within))));
    const { cache } = this.#programs ?? {};
    if (cache === undefined || cache.capacity !== capacity || cache.rows < rows) {
      this.#programs?.[Symbol.dispose]();
      this.#programs = new SamplingPrograms(this.#runtime, this.#model, this.#weights, rows, capacity);
    }
    return this.#programs!;
  }
}

/** One call of generate. */
class Batch {
  readonly #programs: SamplingPrograms;
  readonly #options: SampleOptions;
  readonly #waiting: { readonly index: number; readonly request: SampleRequest }[];
  readonly #slots: (Active | undefined)[];
  readonly #completions: Completion[];
  #prefilled: Int32Array | undefined;

  constructor(programs: SamplingPrograms, requests: readonly SampleRequest[], options: SampleOptions) {
    this.#programs = programs;
    this.#options = options;
    this.#waiting = requests.map((request, index) => ({ index, request })).reverse();
    this.#slots = new Array<Active | undefined>(Math.min(programs.cache.rows, powerOfTwoAbove(requests.length))).fill(undefined);
    this.#completions = new Array<Completion>(requests.length);
  }

  async run(): Promise<Completion[]> {
    for (;;) {
      await this.#admit();
      const B = this.#compact();
      if (B === 0) return this.#completions;
      await this.#decode(await this.#programs.decode(B, this.#options.temperature === 0), B);
    }
  }

  async #admit(): Promise<void> {
    for (let slot = 0; slot < this.#slots.length && this.#waiting.length > 0; slot += 1) {
      if (this.#slots[slot] !== undefined) continue;
      const { index, request } = this.#waiting.pop()!;
      await this.#prefill(request.prompt);
      const position = request.prompt.length - 1;
      this.#programs.cache.copyRow(this.#programs.promptCache, 0, slot, position);
      this.#slots[slot] = { index, request, tokens: [], logProbs: [], position, next: request.prompt[position]! };
    }
  }

  /** All but the last token of the prompt into the prompt cache; nothing to do for the neighbour of the same group. */
  async #prefill(prompt: Int32Array): Promise<void> {
    const length = prompt.length - 1;
    if (prompt === this.#prefilled || length === 0) return;
    // What lies beyond `length` in the bucket writes cache entries that decoding overwrites before it reads them.
    const S = Math.min(bucketLength(length), this.#programs.cache.capacity);
    const program = await this.#programs.prefill(S);
    program.tokens.fill(0);
    program.tokens.set(prompt.subarray(0, length));
    for (let s = 0; s < S; s += 1) program.positions[s] = BigInt(s);
    program.lastPositions[0] = S - 1;
    program.longest[0] = S;
    await program.binding.run();
    this.#prefilled = prompt;
  }

  /** Rows to decode: a power of two that covers every slot at work, after moving them together if that halves it. */
  #compact(): number {
    const busy = this.#slots.filter((active) => active !== undefined).length;
    if (busy === 0) return 0;
    const B = powerOfTwoAbove(busy);
    for (let from = this.#slots.length - 1; from >= B; from -= 1) {
      const active = this.#slots[from];
      if (active === undefined) continue;
      const to = this.#slots.indexOf(undefined);
      this.#programs.cache.copyRow(this.#programs.cache, from, to, active.position);
      this.#slots[to] = active;
      this.#slots[from] = undefined;
    }
    return B;
  }

  async #decode(program: DecodeProgram, B: number): Promise<void> {
    // An idle row writes and reads position 0 of its own row only.
    program.longest[0] = 1;
    for (let slot = 0; slot < B; slot += 1) {
      const active = this.#slots[slot];
      const position = active?.position ?? 0;
      program.tokens[slot] = active?.next ?? 0;
      program.positions[slot] = BigInt(position);
      program.lastPositions[slot] = position;
      program.longest[0] = Math.max(program.longest[0]!, position + 1);
      program.uniform[slot] = active?.request.draw(active.tokens.length) ?? 0.5;
    }
    if (this.#options.temperature > 0) program.inverseTemperature[0] = 1 / this.#options.temperature;
    await program.binding.run();
    for (let slot = 0; slot < B; slot += 1) this.#take(slot, program.nextTokens[slot]!, program.logProbs[slot]!);
  }

  #take(slot: number, token: number, logProb: number): void {
    const active = this.#slots[slot];
    if (active === undefined) return;
    active.tokens.push(token);
    active.logProbs.push(logProb);
    active.position += 1;
    active.next = token;
    const ended = this.#options.endIds.includes(token);
    if (!ended && active.tokens.length < active.request.maxTokens) return;
    this.#slots[slot] = undefined;
    this.#completions[active.index] = { tokens: Int32Array.from(active.tokens), logProbs: Float32Array.from(active.logProbs), ended };
  }
}

const powerOfTwoAbove = (n: number): number => 2 ** Math.ceil(Math.log2(n));
