// The Range header (RFC 9110, section 14) as far as a download that goes on needs it: one range from a first byte on.
// A server may ignore what it does not serve: several ranges, suffixes and other units are answered with everything.

export interface ServedRange {
  /** First and last byte, both included. */
  readonly start: number;
  readonly end: number;
}

/** Undefined: serve all of it. `unsatisfiable`: the range begins at or beyond the end. */
export function servedRange(
  header: string | undefined,
  size: number,
): ServedRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (match === null) return undefined;
  const start = Number(match[1]);
  const last = match[2] === '' ? size - 1 : Number(match[2]);
  if (last < start && match[2] !== '') return undefined;
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(last, size - 1) };
}
