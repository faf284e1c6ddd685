// Cutting characters off the end of what a model wrote: a pattern with "+$" costs the square of a run that ends in something else.

/** Without the characters at its end that match, each by itself. Linear. */
export function trimEnd(text: string, character: RegExp): string {
  let end = text.length;
  while (end > 0 && character.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
