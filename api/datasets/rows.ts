// The rows of an uploaded dataset, one parsed JSON value after the other, from JSONL or from one JSON array.
// A body that is neither is refused with the line that cannot be read; what a row must look like is not known here.
import { decodeUtf8 } from '../json.ts';
import type { Limits } from '../limits.ts';
import { ProblemError } from '../problem.ts';

type Chunks = AsyncIterable<Uint8Array>;

/** @throws ProblemError invalid_dataset naming the line, too_large. */
export async function* readRows(chunks: Chunks, limits: Limits): AsyncGenerator<unknown, void, undefined> {
  const lines = splitLines(chunks, limits);
  let first = true;
  for await (const { text, number } of lines) {
    if (first && text.trimStart().startsWith('[')) {
      yield* arrayRows(await join(text, lines, limits.datasetArrayBytes));
      return;
    }
    first = false;
    yield parseLine(text, number);
  }
}

function parseLine(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(number, cause, isSeveralRows(text) ? lostBreaks : '');
  }
}

function arrayRows(text: string): unknown[] {
  try {
    return JSON.parse(text) as unknown[];
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ProblemError('invalid_dataset', `the body begins as a JSON array but is none: ${why}`, {
      cause,
    });
  }
}

async function join(head: string, rest: AsyncIterable<Line>, limit: number): Promise<string> {
  const parts = [head];
  let size = head.length;
  for await (const { text } of rest) {
    size += text.length;
    if (size > limit)
      throw new ProblemError(
        'too_large',
        `a JSON array may have ${limit} characters: send JSONL, one row a line, which may be larger`,
      );
    parts.push(text);
  }
  return parts.join('\n');
}

interface Line {
  readonly text: string;
  /** From 1, blank lines counted. */
  readonly number: number;
}

/** Lines that are not blank; an array written on one line may be longer than a line of JSONL. */
async function* splitLines(chunks: Chunks, limits: Limits): AsyncGenerator<Line, void, undefined> {
  let number = 0;
  let open: Uint8Array[] = [];
  let openBytes = 0;
  const close = (): Line | undefined => {
    number += 1;
    const text = decodeLine(Buffer.concat(open), number);
    open = [];
    openBytes = 0;
    return text.trim() === '' ? undefined : { text, number };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      open.push(chunk.subarray(start, end));
      start = end + 1;
      const line = close();
      if (line !== undefined) yield line;
    }
    if (start === chunk.byteLength) continue;
    open.push(chunk.subarray(start));
    openBytes += chunk.byteLength - start;
    const limit = number === 0 && opensArray(open[0]) ? limits.datasetArrayBytes : limits.datasetLineBytes;
    if (openBytes > limit)
      throw new ProblemError(
        'too_large',
        `line ${number + 1} has more than ${limit} bytes: is it JSONL, one row a line?`,
      );
  }
  const last = close();
  if (last !== undefined) yield last;
}

const opensArray = (chunk: Uint8Array | undefined): boolean =>
  chunk !== undefined &&
  Buffer.from(chunk.subarray(0, 1024))
    .toString('latin1')
    .trimStart()
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .startsWith('[');

function decodeLine(bytes: Uint8Array, number: number): string {
  try {
    return decodeUtf8(bytes);
  } catch (cause) {
    throw unreadable(number, cause);
  }
}

const isSeveralRows = (line: string): boolean => /\}\s*\{/.test(line);
const lostBreaks = ': several rows on one line; a file is sent whole with curl --data-binary, not -d';

function unreadable(line: number, cause: unknown, hint = ''): ProblemError {
  const why = `${cause instanceof Error ? cause.message : String(cause)}${hint}`;
  return new ProblemError('invalid_dataset', `line ${line} of the body cannot be read: ${why}`, {
    issues: [{ pointer: '', message: `line ${line}: ${why}` }],
    cause,
  });
}
