// Interpreters started before anybody needs them: as many of each kind as were ever in use at one time. One that was taken
// is replaced at once, whatever becomes of it.
import type { Limits } from '../sandbox.ts';
import type { Runtime } from './command.ts';
import { Identities } from './identity.ts';
import { Interpreter } from './interpreter.ts';
import type { Scratch } from './scratch.ts';

const runtimes: readonly Runtime[] = ['python', 'node'];

export class Stock {
  readonly #scratch: Scratch;
  readonly #limits: Limits;
  readonly #identities = new Identities();
  readonly #alive = new Set<Interpreter>();
  readonly #ready: Record<Runtime, Promise<Interpreter>[]> = { python: [], node: [] };
  readonly #inUse: Record<Runtime, number> = { python: 0, node: 0 };
  readonly #mostInUse: Record<Runtime, number> = { python: 0, node: 0 };
  #closed = false;
  #endedSeconds = 0;

  constructor(scratch: Scratch, limits: Limits) {
    this.#scratch = scratch;
    this.#limits = limits;
  }

  /** One that waits for a program under these limits; the caller must run one in it, or kill it. */
  async take(runtime: Runtime, limits: Limits): Promise<Interpreter> {
    this.#inUse[runtime] += 1;
    this.#mostInUse[runtime] = Math.max(this.#mostInUse[runtime], this.#inUse[runtime]);
    try {
      const interpreter = await this.#find(runtime, limits);
      void interpreter.exited.then(() => (this.#inUse[runtime] -= 1));
      return interpreter;
    } catch (cause) {
      this.#inUse[runtime] -= 1;
      throw cause;
    }
  }

  /** CPU time of interpreters that have ended, with their programs. */
  get endedSeconds(): number {
    return this.#endedSeconds;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(runtimes.flatMap((runtime) => this.#ready[runtime]));
    await Promise.all(
      [...this.#alive].map((interpreter) => {
        interpreter.kill();
        return interpreter.exited;
      }),
    );
  }

  async #find(runtime: Runtime, limits: Limits): Promise<Interpreter> {
    if (!sameInKernel(limits, this.#limits)) return this.#start(runtime, limits);
    const waiting = this.#ready[runtime].shift();
    // Whatever killed it while it waited had nothing to do with this program.
    const interpreter = await waiting?.catch(() => undefined);
    this.#refill(runtime);
    return interpreter?.alive ? interpreter : this.#start(runtime, limits);
  }

  #refill(runtime: Runtime): void {
    while (!this.#closed && this.#ready[runtime].length < this.#mostInUse[runtime]) {
      const started = this.#start(runtime, this.#limits);
      started.catch(() => {});
      this.#ready[runtime].push(started);
    }
  }

  async #start(runtime: Runtime, limits: Limits): Promise<Interpreter> {
    if (this.#closed) throw new Error('this sandbox is closed');
    const interpreter = await Interpreter.start(this.#scratch, this.#identities, runtime, limits);
    this.#alive.add(interpreter);
    void interpreter.exited.then(() => {
      this.#alive.delete(interpreter);
      this.#endedSeconds += interpreter.seconds;
    });
    return interpreter;
  }
}

/** Whether an interpreter started under the one may run a program under the other: the rest is watched from outside. */
const sameInKernel = (a: Limits, b: Limits): boolean =>
  a.cpuSeconds === b.cpuSeconds &&
  a.memoryBytes === b.memoryBytes &&
  a.fileBytes === b.fileBytes &&
  a.processes === b.processes &&
  a.openFiles === b.openFiles;
