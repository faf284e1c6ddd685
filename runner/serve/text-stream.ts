// Tokens in, text out, piece by piece: what is given out never changes, and never holds part of a character. Decoding is by
// a short window of tokens, so that a long answer costs no more per token than a short one.
// At most three: a character has four bytes, and what stands before its first is no part of it.
const incomplete = /\uFFFD{1,3}$/;

/** Tokens that a new window begins with: what a decoder does at the start of a text must not show inside. */
const overlap = 4;
/** The same where characters wait: each may be made of as many tokens as it has bytes. */
const waitingOverlap = 16;
const longest = 24;

export class TextStream {
  readonly #decode: (ids: readonly number[]) => string;
  #window: number[] = [];
  /** Characters of the window's text that were given out. */
  #given = 0;

  constructor(decode: (ids: readonly number[]) => string) {
    this.#decode = decode;
  }

  /** The text that is certain now. A character whose bytes are not all there waits for them. */
  push(token: number): string {
    this.#window.push(token);
    const text = this.#decode(this.#window);
    // A replacement character at the end may be half a character, or the model's own: the next token tells.
    const certain = text.replace(incomplete, '');
    const piece = this.#take(certain);
    if (this.#window.length > longest) this.#shorten(text, text.length - certain.length);
    return piece;
  }

  /** What was waiting, when no token follows. */
  end(): string {
    return this.#take(this.#decode(this.#window));
  }

  #take(text: string): string {
    const piece = text.slice(this.#given);
    this.#given = Math.max(this.#given, text.length);
    return piece;
  }

  /** Goes on with the last tokens alone, where their text is the end of the text so far, `waiting` characters of it not given. */
  #shorten(text: string, waiting: number): void {
    const tail = this.#window.slice(waiting === 0 ? -overlap : -waitingOverlap);
    const tailText = this.#decode(tail);
    if (tailText.length < waiting || !text.endsWith(tailText)) return;
    this.#window = tail;
    this.#given = tailText.length - waiting;
  }
}
