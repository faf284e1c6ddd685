// Memory for activations, shared by all batch shapes: only one shape runs at a time, so the largest one's needs
// are all that is ever held. Whoever holds views asks `isCurrent` and takes new ones after it has grown.

export class Scratch {
  #memory = new Float32Array(0);
  #used = 0;

  /** Starts over for a user that needs `elements` in all; views given out before are void if this had to grow. */
  reset(elements: number): void {
    this.#used = 0;
    if (elements > this.#memory.length) this.#memory = new Float32Array(elements);
  }

  /** The next `elements`, not zeroed, starting at a cache line. */
  take(elements: number): Float32Array {
    const view = this.#memory.subarray(this.#used, this.#used + elements);
    if (view.length < elements)
      throw new Error(`internal: scratch of ${this.#memory.length} elements is exhausted`);
    this.#used += paddedSize(elements);
    return view;
  }

  isCurrent(view: Float32Array): boolean {
    return view.buffer === this.#memory.buffer;
  }
}

/** What `take` uses up: a whole number of cache lines. */
export const paddedSize = (elements: number): number => Math.ceil(elements / 16) * 16;
