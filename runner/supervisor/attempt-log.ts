// The log of an attempt: lines of the trainer and of the supervisor, in bounded memory. What has not been reported
// yet waits here; of too much the newest is kept. The last lines stay for messages about a crash.

/** Characters that wait to be reported, at most. */
const waitingLimit = 1 << 20;
const tailLines = 20;
const tailCharacters = 4_000;

/** No NUL (Postgres keeps none) and no half of a surrogate pair. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

export class AttemptLog {
  #waiting = '';
  #dropped = 0;
  #tail = '';

  write(text: string): void {
    const clean = storable(text);
    this.#waiting += clean;
    this.#tail = (this.#tail + clean).slice(-tailCharacters);
    const excess = this.#waiting.length - waitingLimit;
    if (excess <= 0) return;
    this.#dropped += excess;
    this.#waiting = this.#waiting.slice(excess);
  }

  /** A line of the supervisor itself. */
  note(text: string): void {
    this.write(`[runner] ${text}\n`);
  }

  get isEmpty(): boolean {
    return this.#waiting === '';
  }

  /** Takes out up to `limit` characters that have not been reported. */
  take(limit: number): string {
    const gap = this.#dropped === 0 ? '' : `[runner] ${this.#dropped} characters of log were dropped here\n`;
    this.#dropped = 0;
    const taken = this.#waiting.slice(0, Math.max(0, limit - gap.length));
    this.#waiting = this.#waiting.slice(taken.length);
    return (gap + taken).toWellFormed();
  }

  lastLines(): string {
    return this.#tail.trimEnd().split('\n').slice(-tailLines).join('\n');
  }
}
