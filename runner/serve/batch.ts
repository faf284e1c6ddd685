// Many conversations, one sampler: requests wait in line, and join the batch at work as soon as a slot is free, if they draw
// words the way it does (temperature, truncation and bias hold for a whole batch). One that draws otherwise lets the batch
// run empty and begins the next; nobody behind it passes, so nobody waits for ever.
import type { Completion, SampleOptions } from '../engine/sampler/completion.ts';
import type { SlotSampler } from '../engine/sampler/slot-sampler.ts';
import type { Room } from './model.ts';
import type { Sampling } from './prepare.ts';

export interface Drawing {
  readonly prompt: Int32Array;
  readonly maxTokens: number;
  readonly sampling: Sampling;
  /** Uniform in (0, 1) for the token at this position of the answer. */
  readonly draw: (position: number) => number;
  /** Nobody waits for the answer any more: it is not begun, or ended at its next token. */
  readonly cancelled: () => boolean;
  /** `false` ends the answer with this token. */
  readonly onToken: (token: number) => boolean;
  /** The last call, unless it was cancelled before it began. */
  readonly onEnd: (completion: Completion) => void;
  /** The last call, in place of onEnd: the engine failed. */
  readonly onError: (error: unknown) => void;
}

export class Batch {
  readonly #sampler: SlotSampler;
  readonly #room: Room;
  readonly #endIds: readonly number[];
  #line: Drawing[] = [];
  readonly #atWork = new Set<Drawing>();
  #working = false;
  #done: Promise<void> = Promise.resolve();

  constructor(sampler: SlotSampler, endIds: readonly number[], room: Room) {
    this.#sampler = sampler;
    this.#endIds = endIds;
    this.#room = room;
  }

  /** Those whose answers somebody waits for. */
  get waiting(): number {
    return this.#line.filter(({ cancelled }) => !cancelled()).length;
  }

  add(drawings: readonly Drawing[]): void {
    this.#line = [...this.#line.filter(({ cancelled }) => !cancelled()), ...drawings];
    if (!this.#working) this.#done = this.#work();
  }

  /** Resolves when nothing is at work and nothing waits. */
  async idle(): Promise<void> {
    while (this.#working) await this.#done;
  }

  async #work(): Promise<void> {
    this.#working = true;
    for (let first = this.#first(); first !== undefined; first = this.#first()) {
      try {
        await this.#run(first.sampling);
      } catch (error) {
        this.#fail(first, error);
      }
    }
    // At the last look at the line, not when the promise resolves: who comes in between would wait for nobody.
    this.#working = false;
  }

  /** Those at work; and `first`, where it had not even begun (no memory for the caches), or it would be tried for ever. */
  #fail(first: Drawing, error: unknown): void {
    if (this.#line[0] === first) this.#atWork.add(this.#line.shift()!);
    for (const drawing of this.#atWork) drawing.onError(error);
    this.#atWork.clear();
  }

  async #run(sampling: Sampling): Promise<void> {
    const { rows, contextTokens: capacity } = this.#room;
    const options: SampleOptions = { ...sampling, endIds: this.#endIds };
    const kind = kindOf(sampling);
    const next = () => {
      const first = this.#first();
      if (first === undefined || kindOf(first.sampling) !== kind) return undefined;
      this.#line.shift();
      this.#atWork.add(first);
      return {
        prompt: first.prompt,
        maxTokens: first.maxTokens,
        draw: first.draw,
        onToken: (token: number) => !first.cancelled() && first.onToken(token),
        onEnd: (completion: Completion) => {
          this.#atWork.delete(first);
          first.onEnd(completion);
        },
      };
    };
    await this.#sampler.generateJoining(next, options, { rows, capacity });
  }

  /** Who waits longest, those that nobody waits for left out. */
  #first(): Drawing | undefined {
    while (this.#line[0]?.cancelled() === true) this.#line.shift();
    return this.#line[0];
  }
}

const kindOf = ({ temperature, topK, topP, minP, logitBias }: Sampling): string =>
  JSON.stringify([temperature, topK, topP, minP, ...logitBias]);
