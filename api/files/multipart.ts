// A form of parts (RFC 7578), read as a stream: a file of any size passes through without lying in memory.
import { ProblemError } from '../problem.ts';

type Chunks = AsyncIterable<Uint8Array>;

export interface FormPart {
  readonly name: string;
  readonly filename: string | undefined;
  /** To be read to its end before the next part is asked for. */
  readonly body: AsyncGenerator<Buffer, void, undefined>;
}

const mostHeaderBytes = 16 << 10;
const mostParts = 100;
const lineEnd = Buffer.from('\r\n');

/** @throws ProblemError unsupported_media_type. */
export function boundaryOf(contentType: string | undefined): string {
  const found = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? '',
  );
  const boundary = found?.[1] ?? found?.[2];
  if (boundary !== undefined) return boundary;
  throw new ProblemError(
    'unsupported_media_type',
    'send a form: content-type: multipart/form-data with its boundary',
  );
}

/** @throws ProblemError invalid_form, incomplete_body. */
export async function* readForm(chunks: Chunks, boundary: string): AsyncGenerator<FormPart, void, undefined> {
  const bytes = readerOf(chunks);
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  // The first one may stand at the very beginning.
  bytes.unread(lineEnd);
  for await (const preamble of bytes.until(delimiter)) void preamble;
  for (let parts = 0; !(await bytes.isLast()); parts++) {
    if (parts === mostParts) throw invalid(`it has more than ${mostParts} parts`);
    const { name, filename } = dispositionOf(await bytes.head());
    const body = bytes.until(delimiter);
    yield { name, filename, body };
    for await (const rest of body) void rest;
  }
}

function readerOf(chunks: Chunks) {
  const iterator = chunks[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const next = await iterator.next();
    if (next.done === true) throw invalid('it ends before its last boundary');
    held = Buffer.concat([held, next.value]);
  };
  const take = (count: number): Buffer => {
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };
  return {
    unread(before: Buffer): void {
      held = Buffer.concat([before, held]);
    },
    /** All up to the delimiter, which is passed over. */
    async *until(delimiter: Buffer): AsyncGenerator<Buffer, void, undefined> {
      for (;;) {
        const at = held.indexOf(delimiter);
        if (at >= 0) {
          if (at > 0) yield take(at);
          take(delimiter.length);
          return;
        }
        // What may be the beginning of the delimiter waits for the next chunk.
        const safe = held.length - delimiter.length + 1;
        if (safe > 0) yield take(safe);
        await more();
      }
    },
    /** After a delimiter: whether it was the last one. What else follows it to the end of the line is white space. */
    async isLast(): Promise<boolean> {
      while (held.length < 2) await more();
      if (held.subarray(0, 2).toString('latin1') === '--') return true;
      while (!held.includes('\r\n')) {
        if (held.length > mostHeaderBytes) throw invalid('the line of a boundary does not end');
        await more();
      }
      const line = take(held.indexOf('\r\n') + 2);
      if (line.toString('latin1').trim() !== '') throw invalid('something follows a boundary on its line');
      return false;
    },
    /** The header lines of a part. */
    async head(): Promise<string> {
      // A part without any header ends its head like others.
      held = Buffer.concat([lineEnd, held]);
      while (!held.includes('\r\n\r\n')) {
        if (held.length > mostHeaderBytes) throw invalid('the head of a part has no end');
        await more();
      }
      return take(held.indexOf('\r\n\r\n') + 4).toString('utf8');
    },
  };
}

function dispositionOf(head: string): { name: string; filename: string | undefined } {
  const line = head.split('\r\n').find((one) => /^content-disposition\s*:/i.test(one)) ?? '';
  const name = parameter(line, 'name');
  if (!/:\s*form-data\s*(;|$)/i.test(line) || name === undefined)
    throw invalid('a part lacks its content-disposition: form-data; name="…"');
  return { name, filename: parameter(line, 'filename') };
}

/** Browsers and clients write `"` as %22 or \". */
function parameter(line: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(line);
  const value = found?.[1] ?? found?.[2];
  return value
    ?.replaceAll(/\\(["\\])/g, '$1')
    .replaceAll(/%(22|0D|0A)/gi, (code) => decodeURIComponent(code));
}

const invalid = (what: string): ProblemError =>
  new ProblemError('invalid_form', `the form cannot be read: ${what}`);
