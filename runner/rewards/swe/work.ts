// A budget of elementary steps for one answer. Comparing texts is quadratic and worse where an answer is built to make it
// so; steps are counted instead of seconds, so that the same answer gets the same reward on every machine.

export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

export class WorkBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Throws `TooMuchWork` once more has been spent than there was. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork('comparing the texts takes too many steps');
  }
}
