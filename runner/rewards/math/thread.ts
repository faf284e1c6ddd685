// One thread that compares pairs, from its start to its end: it takes one pair at a time, on a clock of its own, and is
// ended when it does not answer in time. It keeps the process alive only while a pair is with it.
import { Worker } from 'node:worker_threads';
import type { Pair } from './pair.ts';
import type { FromWorker } from './worker.ts';

/** `timeout` and `crashed` are the end of the thread. */
export type ThreadResult = 'equal' | 'different' | 'timeout' | 'crashed';

/** Loading the engine; not on any pair's clock. */
const startLimitMs = 60_000;
/** A thread that asks for more is ended by Node, and the process lives on. */
const resourceLimits = { maxOldGenerationSizeMb: 512, stackSizeMb: 4 };

export class Thread {
  readonly #worker: Worker;
  readonly #started: Promise<boolean>;
  #ended: Promise<unknown> | undefined;
  #dead = false;

  constructor(entry: URL) {
    // No flags of the parent: a flag that a thread does not take would end it.
    this.#worker = new Worker(entry, { resourceLimits, execArgv: [] });
    this.#worker.unref();
    // Also between pairs: without a listener its error would end the process.
    this.#worker.on('error', () => undefined).on('exit', () => (this.#dead = true));
    this.#started = this.#next(startLimitMs).then((message) => message === 'ready');
  }

  /** Never rejects; whatever went wrong with the thread is `crashed`. */
  async compare(pair: Pair, limitMs: number): Promise<ThreadResult> {
    this.#worker.ref();
    try {
      if (!(await this.#started) || this.#dead) return this.#end('crashed');
      const answer = this.#next(limitMs);
      this.#worker.postMessage(pair);
      const message = await answer;
      if (typeof message !== 'boolean') return this.#end(message === 'timeout' ? 'timeout' : 'crashed');
      return message ? 'equal' : 'different';
    } finally {
      if (this.#ended === undefined) this.#worker.unref();
    }
  }

  /** The thread's next message, its end, or that neither came in time. */
  #next(limitMs: number): Promise<FromWorker | 'timeout' | 'ended'> {
    return new Promise((resolve) => {
      const settle = (result: FromWorker | 'timeout' | 'ended'): void => {
        clearTimeout(timer);
        this.#worker.off('message', settle).off('error', onEnd).off('exit', onEnd);
        resolve(result);
      };
      const onEnd = (): void => settle('ended');
      // Where this thread itself was kept from its events, an answer may wait to be read: only after it is it too late.
      const timer = setTimeout(() => setImmediate(settle, 'timeout'), limitMs);
      this.#worker.on('message', settle).on('error', onEnd).on('exit', onEnd);
    });
  }

  #end(result: ThreadResult): ThreadResult {
    void this.close();
    return result;
  }

  /** Resolves when the thread is gone; until then it keeps the process, which else could end before whoever waits here. */
  close(): Promise<unknown> {
    this.#worker.ref();
    this.#ended ??= this.#worker.terminate();
    return this.#ended;
  }
}
