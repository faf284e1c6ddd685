// The teachers of a stage, as many open at a time as there is room for. They are asked in the same order every step, so the one asked
// last is the one needed last: it makes room. What a teacher says does not depend on which others are open.
import type { Scorer } from '../../engine/learner/scorer.ts';
import type { Teachers } from '../host.ts';

type Opening = Pick<Teachers, 'open' | 'atOnce'>;

export class TeacherPool {
  /** Each once, in the order in which they are asked. */
  readonly names: readonly string[];
  readonly #host: Opening;
  /** The one used last stands last. */
  readonly #open = new Map<string, Scorer>();

  constructor(host: Opening, names: readonly string[]) {
    this.#host = host;
    this.names = [...new Set(names)];
  }

  /** Each of them once, so that one that cannot be opened ends the run before a step is spent. */
  async openEach(): Promise<void> {
    for (const name of this.names) await this.#opened(name);
  }

  /** The teacher is open while `work` is done, and no longer for certain. */
  async use<Result>(name: string, work: (scorer: Scorer) => Promise<Result>): Promise<Result> {
    return await work(await this.#opened(name));
  }

  async #opened(name: string): Promise<Scorer> {
    const known = this.#open.get(name);
    if (known === undefined && this.#open.size >= this.#host.atOnce)
      this.#end([...this.#open.keys()].at(-1)!);
    const scorer = known ?? (await this.#host.open(name));
    this.#open.delete(name);
    this.#open.set(name, scorer);
    return scorer;
  }

  close(): void {
    for (const name of [...this.#open.keys()]) this.#end(name);
  }

  #end(name: string): void {
    this.#open.get(name)?.[Symbol.dispose]();
    this.#open.delete(name);
  }
}
