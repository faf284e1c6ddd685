// One at a time: a device's queue takes the work of one run after the other, and what in place runs exchange (spare
// buffers) has one user. Asynchronous work waits its turn; what must happen at once is refused while work is going.

export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  readonly #afterwards: (() => void)[] = [];

  /** Whether anything is going or waits. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** Does the work after all that was asked for before. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const turn = this.#last.then(work).finally(() => this.#end());
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Now, or where work is going after it: for what may be late but not lost, such as giving memory back. */
  whenIdle(work: () => void): void {
    if (this.busy) this.#afterwards.push(work);
    else work();
  }

  #end(): void {
    this.#waiting -= 1;
    if (this.busy) return;
    for (const work of this.#afterwards.splice(0)) work();
  }
}
