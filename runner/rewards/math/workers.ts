// Threads that compare formulas, for a whole process. A pair that takes too long costs its own time and its thread, which
// is replaced; pairs on other threads do not notice, and the clock of those in the queue does not run.
//
// Whose fault a lost pair is, a canary tells: an easy pair, on another thread, under the same limit. If that is answered
// it was the pair's; if not, ours (a machine too busy, a package that does not load).
import { Thread } from './thread.ts';
import type { ThreadResult } from './thread.ts';
import type { Pair } from './pair.ts';

export interface MathWorkersOptions {
  /** Pairs at a time; as many again may be at work that have proved slow. A thread takes about 100 MB and starts when needed. */
  readonly size?: number;
  /** Wall time of a pair, from when a thread takes it up. */
  readonly limitMs?: number;
  /** Another program for the threads; tests of outages only. */
  readonly entry?: URL;
}

/** `too_costly`: the pair's own fault. `down`: ours. */
export type PairVerdict = 'equal' | 'different' | 'too_costly' | 'down';

/** Most pairs take a few milliseconds. */
const slowMs = 200;

const canary: Pair = { gold: '\\frac{x+2}{7}', given: '\\frac{x}{7}+\\frac{2}{7}' };

export class MathWorkers {
  readonly #size: number;
  readonly #limitMs: number;
  readonly #entry: URL;
  readonly #idle: Thread[] = [];
  readonly #ending = new Set<Promise<unknown>>();
  readonly #busy = new Set<Thread>();
  readonly #queue: (() => void)[] = [];
  #slots = 0;
  /** When a pair was last answered; one that was answered meanwhile is as good as a canary. */
  #answeredAt = -Infinity;
  /** Pairs that gave their slot back and are still at work; at most as many as there are slots. */
  #slow = 0;
  #closed = false;

  constructor({
    size = 2,
    limitMs = 2000,
    entry = new URL('./worker.ts', import.meta.url),
  }: MathWorkersOptions = {}) {
    this.#size = size;
    this.#limitMs = limitMs;
    this.#entry = entry;
  }

  /** Never rejects for what a pair holds. After `close` every pair is `down`. */
  async compare(pair: Pair): Promise<PairVerdict> {
    await this.#slot();
    const turn = this.#turn();
    try {
      return this.#closed ? 'down' : await this.#judge(pair);
    } finally {
      turn.end();
    }
  }

  /** Holds the slot that was taken, until its end or until the pair proves slow: then others have it. */
  #turn(): { end(): void } {
    let isSlow = false;
    const slow = setTimeout(() => {
      if (this.#slow >= this.#size) return;
      isSlow = true;
      this.#slow++;
      this.#release();
    }, slowMs);
    return {
      end: () => {
        clearTimeout(slow);
        if (isSlow) this.#slow--;
        else this.#release();
      },
    };
  }

  async #judge(pair: Pair): Promise<PairVerdict> {
    const began = performance.now();
    let result = await this.#run(pair);
    // A thread may end for reasons of an earlier pair; a second one in a row is no accident.
    if (result === 'crashed') result = await this.#run(pair);
    if (result === 'equal' || result === 'different') {
      this.#answeredAt = performance.now();
      return result;
    }
    if (this.#answeredAt > began) return 'too_costly';
    return (await this.#run(canary)) === 'equal' ? 'too_costly' : 'down';
  }

  async #run(pair: Pair): Promise<ThreadResult> {
    if (this.#closed) return 'crashed';
    const thread = this.#idle.pop() ?? new Thread(this.#entry);
    this.#busy.add(thread);
    const result = await thread.compare(pair, this.#limitMs);
    this.#busy.delete(thread);
    if ((result === 'equal' || result === 'different') && !this.#closed) this.#idle.push(thread);
    else this.#replace(thread);
    return result;
  }

  /** The next thread loads while others work; those that are loaded are taken first. */
  #replace(thread: Thread): void {
    this.#end(thread);
    if (!this.#closed) this.#idle.unshift(new Thread(this.#entry));
  }

  #end(thread: Thread): void {
    const ended = thread.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async #slot(): Promise<void> {
    if (this.#slots < this.#size) this.#slots++;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  #release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#slots--;
    else next();
  }

  /** Ends every thread; pairs that are with one become `down`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const thread of [...this.#idle.splice(0), ...this.#busy]) this.#end(thread);
    await Promise.all(this.#ending);
  }
}
