// Texts that end a response. Matching is on the decoded text, after every token: the response ends with the token that
// completes a stop string. Its tokens all stay, since what was sampled is what is learnt; only text is ever cut.

export class StopStrings {
  readonly #strings: readonly string[];
  readonly #decode: (ids: readonly number[]) => string;
  readonly #window: number;

  /** `decode` must keep special tokens, so that every token is some text. */
  constructor(strings: readonly string[], decode: (ids: readonly number[]) => string) {
    if (strings.includes('')) throw new RangeError('a stop string is empty: it would end every response');
    this.#strings = strings;
    this.#decode = decode;
    // A UTF-16 unit is three bytes at most and a token one at least. Four tokens more: the first may decode otherwise than
    // inside the text (half a character, a space that decoders drop at the start).
    this.#window = 4 + 3 * Math.max(0, ...strings.map((text) => text.length));
  }

  /** The stop string that the last of `tokens` completed, if none was complete before; the one that begins first. */
  completed(tokens: readonly number[]): string | undefined {
    if (this.#strings.length === 0) return undefined;
    return find(this.#decode(tokens.slice(-this.#window)), this.#strings)?.stop;
  }

  /** `text` up to its first stop string, which stays where `keep` says so; whole where it has none. */
  cut(text: string, { keep = false } = {}): string {
    const found = find(text, this.#strings);
    if (found === undefined) return text;
    return text.slice(0, found.at + (keep ? found.stop.length : 0));
  }
}

/** The first in the text; of several at one place the longest. */
function find(text: string, strings: readonly string[]): { at: number; stop: string } | undefined {
  return strings
    .map((stop) => ({ at: text.indexOf(stop), stop }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.stop.length - a.stop.length)[0];
}
