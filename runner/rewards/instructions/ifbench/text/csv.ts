// Rows of delimiter-separated values (RFC 4180), with what the constraints ask for: whether a field was written in quotes.

export interface Field {
  readonly text: string;
  readonly quoted: boolean;
}

/** A field that opens with a quote, spaces before it aside, ends at the next quote that is not doubled. */
function fieldAt(source: string, start: number, delimiter: string): { field: Field; end: number } {
  let at = start;
  while (source[at] === ' ') at++;
  if (source[at] !== '"') {
    while (at < source.length && source[at] !== delimiter && source[at] !== '\n') at++;
    return { field: { text: source.slice(start, at), quoted: false }, end: at };
  }
  const open = ++at;
  while (at < source.length && (source[at] !== '"' || source[at + 1] === '"'))
    at += source[at] === '"' ? 2 : 1;
  const text = source.slice(open, at).replaceAll('""', '"');
  while (at < source.length && source[at] !== delimiter && source[at] !== '\n') at++;
  return { field: { text, quoted: true }, end: at };
}

/** Line ends of Windows are read too; blank space at the end of all is no row. */
export function csvRows(response: string, delimiter: string): Field[][] {
  const source = response.replaceAll('\r\n', '\n').trimEnd();
  const rows: Field[][] = [[]];
  for (let at = 0; at <= source.length; at++) {
    const { field, end } = fieldAt(source, at, delimiter);
    rows.at(-1)!.push(field);
    if (source[end] === '\n') rows.push([]);
    at = end;
  }
  return rows;
}
