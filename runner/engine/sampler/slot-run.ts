// One run of the sampler: requests take slots, every step advances all slots by one token, ended slots go to those who
// wait. When none waits, the slots still at work move together and the batch halves. Who waits is asked before every
// step, so a request may join while others are being answered.
import { bucketLength } from '../learner/micro-batches.ts';
import type { RowMove } from './cache.ts';
import type { DrawVariant } from './choose.ts';
import type { JoiningRequest, SampleOptions } from './completion.ts';
import type { DecodeProgram, SamplingPrograms } from './programs.ts';
import { fillBias, fillDraw, mayKeepMore, variantFor } from './settings.ts';

/** A request at work. `position` is where the token fed next stands in its row. */
interface Active {
  readonly request: JoiningRequest;
  readonly tokens: number[];
  readonly logProbs: number[];
  readonly samplingLogProbs: number[];
  readonly logProbsAtOne: number[];
  position: number;
  next: number;
}

export class SlotRun {
  readonly #programs: SamplingPrograms;
  readonly #options: SampleOptions;
  readonly #next: () => JoiningRequest | undefined;
  readonly #slots: (Active | undefined)[];
  /** Rows of the batch at work, a power of two. */
  #rows: number;
  #prefilled: Int32Array | undefined;
  #variant: DrawVariant;

  /** `next` gives the request that waits longest, undefined while none does; at most `rows` are at work at once. */
  constructor(
    programs: SamplingPrograms,
    options: SampleOptions,
    rows: number,
    next: () => JoiningRequest | undefined,
  ) {
    this.#programs = programs;
    this.#options = options;
    this.#next = next;
    this.#variant = variantFor(options, programs.vocabSize);
    if (this.#variant.biased) fillBias(programs, options);
    this.#slots = new Array<Active | undefined>(Math.min(programs.cache.rows, rows)).fill(undefined);
    this.#rows = powerOfTwoAbove(this.#slots.length);
    programs.cache.begin(this.#rows);
  }

  /** Resolves when no request is at work and none waits. */
  async run(): Promise<void> {
    for (;;) {
      await this.#admit();
      const B = await this.#compact();
      if (B === 0) return;
      await this.#step(B);
    }
  }

  async #admit(): Promise<void> {
    let slots: number[] = [];
    let prompt: Int32Array | undefined;
    for (let slot = 0; slot < this.#slots.length; slot += 1) {
      if (this.#slots[slot] !== undefined) continue;
      const request = this.#next();
      if (request === undefined) break;
      await this.#cover(slot);
      if (prompt !== undefined && prompt !== request.prompt) {
        await this.#share(prompt, slots);
        slots = [];
      }
      prompt = request.prompt;
      slots.push(slot);
      const position = prompt.length - 1;
      this.#slots[slot] = {
        request,
        tokens: [],
        logProbs: [],
        samplingLogProbs: [],
        logProbsAtOne: [],
        position,
        next: prompt[position]!,
      };
    }
    if (prompt !== undefined) await this.#share(prompt, slots);
  }

  /** A batch that has shrunk grows again where a request joins beyond its rows. */
  async #cover(slot: number): Promise<void> {
    if (slot < this.#rows) return;
    this.#rows = powerOfTwoAbove(slot + 1);
    await this.#programs.cache.resize(this.#rows, []);
  }

  /** The prompt's cache, computed once, to all slots of its group. */
  async #share(prompt: Int32Array, slots: readonly number[]): Promise<void> {
    const length = prompt.length - 1;
    if (length === 0) return;
    await this.#prefill(prompt, length);
    await this.#programs.cache.admit(slots, length);
  }

  /** All but the last token of the prompt into the prompt's row; nothing to do for the neighbour of the same group. */
  async #prefill(prompt: Int32Array, length: number): Promise<void> {
    if (prompt === this.#prefilled) return;
    for (let begin = 0; begin < length; begin += this.#programs.prefillLimit)
      await this.#prefillFrom(begin, prompt.subarray(0, length));
    this.#prefilled = prompt;
  }

  async #prefillFrom(begin: number, tokens: Int32Array): Promise<void> {
    const { prefillLimit, cache } = this.#programs;
    const count = Math.min(prefillLimit, tokens.length - begin);
    // What lies beyond the tokens in the bucket writes cache entries that are overwritten before they are read.
    const S = Math.min(bucketLength(count), cache.capacity - begin);
    const program = await this.#programs.prefill(S);
    program.tokens.fill(0);
    program.tokens.set(tokens.subarray(begin, begin + count));
    for (let s = 0; s < S; s += 1) program.positions[s] = BigInt(begin + s);
    program.lastPositions[0] = begin + S - 1;
    program.longest[0] = begin + S;
    await program.binding.run();
  }

  /** Rows to decode: a power of two that covers every slot at work, after moving them together if that halves it. */
  async #compact(): Promise<number> {
    const busy = this.#slots.filter((active) => active !== undefined).length;
    if (busy === 0) return 0;
    const B = powerOfTwoAbove(busy);
    const moves: RowMove[] = [];
    for (let from = this.#slots.length - 1; from >= B; from -= 1) {
      const active = this.#slots[from];
      if (active === undefined) continue;
      const to = this.#slots.indexOf(undefined);
      moves.push({ from, to, length: active.position });
      this.#slots[to] = active;
      this.#slots[from] = undefined;
    }
    await this.#programs.cache.resize(B, moves);
    this.#rows = B;
    return B;
  }

  async #step(B: number): Promise<void> {
    let program = await this.#decode(B);
    if (this.#keepsMore(program)) {
      // The same positions once more: the caches are written with what they hold. Flat distributions stay flat, so the
      // rest of the run draws wide at once.
      this.#variant = { ...this.#variant, draw: 'wide' };
      program = await this.#decode(B);
    }
    for (let slot = 0; slot < B; slot += 1) this.#take(slot, program);
  }

  #keepsMore(program: DecodeProgram): boolean {
    if (this.#variant.draw !== 'narrow' || !mayKeepMore(this.#options, this.#programs.vocabSize))
      return false;
    return program.beyond.some((mass, slot) => mass > 0 && this.#slots[slot] !== undefined);
  }

  async #decode(B: number): Promise<DecodeProgram> {
    const program = await this.#programs.decode(B, this.#variant);
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
    fillDraw(program, this.#options, this.#programs.vocabSize);
    await program.binding.run();
    return program;
  }

  #take(slot: number, program: DecodeProgram): void {
    const active = this.#slots[slot];
    if (active === undefined) return;
    const token = program.nextTokens[slot]!;
    active.tokens.push(token);
    active.logProbs.push(program.logProbs[slot]!);
    active.samplingLogProbs.push(program.samplingLogProbs[slot]!);
    active.logProbsAtOne.push(program.logProbsAtOne[slot]!);
    active.position += 1;
    active.next = token;
    const atEnd = this.#options.endIds.includes(token);
    const stop = atEnd ? undefined : this.#options.stop?.completed(active.tokens);
    const refused = active.request.onToken?.(token) === false;
    const ended = atEnd || stop !== undefined || refused;
    if (!ended && active.tokens.length < active.request.maxTokens) return;
    this.#slots[slot] = undefined;
    active.request.onEnd({
      tokens: Int32Array.from(active.tokens),
      logProbs: Float32Array.from(active.logProbs),
      samplingLogProbs: Float32Array.from(active.samplingLogProbs),
      logProbsAtOne: Float32Array.from(active.logProbsAtOne),
      ended,
      ...(stop === undefined ? {} : { stop }),
    });
  }
}

export const powerOfTwoAbove = (n: number): number => 2 ** Math.ceil(Math.log2(n));
