// The files that a change is applied to: path -> text as lines. Line endings are no part of a line (CRLF reads as LF), nor
// is a newline at the end of a file: what differs in these alone is no change, as in SWE-RL, which compares split lines.
// A file that is absent and one without lines are the same to the reward, but not to what applies.

/**
 * A known stretch of a file: `start` is the index of its first line in the file before any change. A file given whole is
 * one segment from 0; of a file known only by the hunks of a patch (a partial row) each hunk's pre-image is one.
 */
export interface Segment {
  readonly start: number;
  readonly lines: readonly string[];
}

export type FileText = readonly Segment[];
export type FileTree = ReadonlyMap<string, FileText>;

/** What a patch says does not parse, does not apply, or is not one patch. The message is for people. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
}

export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export const wholeFile = (lines: readonly string[]): FileText => [{ start: 0, lines }];

export const hasLines = (file: FileText): boolean => file.some(({ lines }) => lines.length > 0);

/** Where `wanted` (at least one line) stands in the file, overlapping places included; `limit` places at most. */
export function placesOf(
  file: FileText,
  wanted: readonly string[],
  limit: number,
): { readonly segment: number; readonly at: number }[] {
  const borders = bordersOf(wanted);
  const places: { segment: number; at: number }[] = [];
  for (const [segment, { lines }] of file.entries()) {
    let matched = 0;
    for (const [index, line] of lines.entries()) {
      while (matched > 0 && (matched === wanted.length || wanted[matched] !== line))
        matched = borders[matched]!;
      if (wanted[matched] === line) matched += 1;
      if (matched < wanted.length) continue;
      places.push({ segment, at: index + 1 - matched });
      if (places.length === limit) return places;
    }
  }
  return places;
}

/** Knuth-Morris-Pratt: for each prefix length the length of its longest proper border. Keeps hostile searches linear. */
function bordersOf(wanted: readonly string[]): Int32Array {
  const borders = new Int32Array(wanted.length + 1);
  let border = 0;
  for (let length = 2; length <= wanted.length; length += 1) {
    while (border > 0 && wanted[border] !== wanted[length - 1]) border = borders[border]!;
    if (wanted[border] === wanted[length - 1]) border += 1;
    borders[length] = border;
  }
  return borders;
}

/** The file with `remove` lines from `at` of a segment replaced. */
export function spliced(
  file: FileText,
  { segment, at }: { readonly segment: number; readonly at: number },
  remove: number,
  insert: readonly string[],
): FileText {
  return file.map((part, index) =>
    index === segment
      ? {
          ...part,
          lines: [...part.lines.slice(0, at), ...insert, ...part.lines.slice(at + remove)],
        }
      : part,
  );
}
