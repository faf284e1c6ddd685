// One call of the sampler: requests take slots, every step advances all slots by one token, ended slots go to those who
// wait. When none waits, the slots still at work move together and the batch halves.
import { bucketLength } from '../learner/micro-batches.ts';
import type { Completion, SampleOptions, SampleRequest } from './completion.ts';
import type { DecodeProgram, SamplingPrograms } from './programs.ts';

/** A request at work. `position` is where the token fed next stands in its row. */
interface Active {
  readonly index: number;
  readonly request: SampleRequest;
  readonly tokens: number[];
  readonly logProbs: number[];
  position: number;
  next: number;
}

export class SlotRun {
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
    this.#slots = new Array<Active | undefined>(
      Math.min(programs.cache.rows, powerOfTwoAbove(requests.length)),
    ).fill(undefined);
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
      this.#slots[slot] = {
        index,
        request,
        tokens: [],
        logProbs: [],
        position,
        next: request.prompt[position]!,
      };
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
    for (let slot = 0; slot < B; slot += 1)
      this.#take(slot, program.nextTokens[slot]!, program.logProbs[slot]!);
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
    this.#completions[active.index] = {
      tokens: Int32Array.from(active.tokens),
      logProbs: Float32Array.from(active.logProbs),
      ended,
    };
  }
}

export const powerOfTwoAbove = (n: number): number => 2 ** Math.ceil(Math.log2(n));
