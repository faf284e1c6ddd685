// Cuts a stream of text at its first stop string. What may still become one is held back, so that a client never sees half
// of it.
import { heldBack } from './held-back.ts';

export class StopFilter {
  readonly #strings: readonly string[];
  #held = '';
  #stopped = false;

  constructor(strings: readonly string[]) {
    this.#strings = strings;
  }

  /** True once a stop string was complete: nothing comes after it. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The text that no stop string can reach any more. */
  push(text: string): string {
    if (this.#stopped) return '';
    const whole = this.#held + text;
    const at = this.#firstStop(whole);
    this.#stopped = at >= 0;
    const given = this.#stopped ? at : whole.length - heldBack(whole, this.#strings);
    this.#held = this.#stopped ? '' : whole.slice(given);
    return whole.slice(0, given);
  }

  /** What was held back, when nothing follows. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  #firstStop(text: string): number {
    const places = this.#strings.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    return places.length === 0 ? -1 : Math.min(...places);
  }
}
