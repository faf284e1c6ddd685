// The bytes of an uploaded dataset as they are meant: counted against the limits, and unzipped where the content
// coding or the first two bytes say gzip. One chunk is in memory at a time.
import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Limits } from '../limits.ts';
import { ProblemError } from '../problem.ts';

type Chunks = AsyncIterable<Uint8Array>;

/** @throws ProblemError too_large, invalid_header (an unknown coding), invalid_dataset (broken gzip). */
export async function* unpack(body: Chunks, coding: string | undefined, limits: Limits): Chunks {
  const encoding = coding?.trim().toLowerCase() ?? 'identity';
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding))
    throw new ProblemError(
      'invalid_header',
      `content-encoding ${JSON.stringify(encoding)} is not known: send gzip or none`,
    );
  const received = counted(body, limits.datasetBytes, 'the dataset');
  const { head, rest } = await peek(received, 2);
  const zipped = head[0] === 0x1f && head[1] === 0x8b;
  if (!zipped && encoding !== 'identity')
    throw new ProblemError(
      'invalid_dataset',
      'content-encoding says gzip, but the body does not begin as gzip does',
    );
  yield* zipped ? counted(gunzip(rest), limits.datasetUnpackedBytes, 'the unzipped dataset') : rest;
}

async function* counted(chunks: Chunks, limit: number, what: string): Chunks {
  let total = 0;
  for await (const chunk of chunks) {
    total += chunk.byteLength;
    if (total > limit) throw new ProblemError('too_large', `${what} has more than ${limit} bytes: split it`);
    yield chunk;
  }
}

/** The first `count` bytes (fewer where there are fewer) and the whole stream, those bytes included. */
async function peek(chunks: Chunks, count: number): Promise<{ head: Uint8Array; rest: Chunks }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.byteLength < count) {
    const next = await iterator.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* rest(): Chunks {
    if (head.byteLength > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head, rest: rest() };
}

async function* gunzip(chunks: Chunks): Chunks {
  const source = Readable.from(chunks, { objectMode: false });
  let sourceError: unknown;
  source.once('error', (error) => (sourceError = error));
  const unzipped = pipeline(source, createGunzip(), () => {
    // The error, if any, reaches the reader through the stream itself.
  });
  try {
    yield* unzipped as AsyncIterable<Buffer>;
  } catch (cause) {
    if (sourceError !== undefined) throw sourceError;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ProblemError('invalid_dataset', `the gzip data cannot be read: ${why}`, { cause });
  } finally {
    source.destroy();
  }
}
