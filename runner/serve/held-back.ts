// How much of a text's end must wait, because what follows may make it one of the given strings.

/** Characters at the end of `text` that begin one of `strings`, the longest such end; 0 where none does. */
export function heldBack(text: string, strings: readonly string[]): number {
  let most = 0;
  for (const string of strings) {
    for (let length = Math.min(string.length - 1, text.length); length > most; length -= 1) {
      if (text.endsWith(string.slice(0, length))) {
        most = length;
        break;
      }
    }
  }
  return most;
}
