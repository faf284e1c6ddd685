// Reads the body of a put once, in bounded chunks, counting and hashing on the way. A body that
// is not what was announced ends in an error before the last byte is handed on, so that the
// writer behind it never completes a wrong object.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import { StoreProblem } from './error.ts';
import type { ObjectBody, PutResult } from './store.ts';

const readChunkBytes = 1 << 20;

export interface MeasuredBody {
  /** Announced size in bytes. */
  readonly size: number;
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
  /** Size and hash of what was read; call it after `chunks` has ended. */
  result(): PutResult;
}

/** Opens a body for one reading; `sha256` is what its bytes must hash to. */
export async function measureBody(body: ObjectBody, sha256?: string): Promise<MeasuredBody> {
  const size = await bodySize(body);
  const hash = createHash('sha256');
  let result: PutResult | undefined;

  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    let read = 0;
    // One chunk is held back: the last one goes on only when size and hash are right.
    let held: Uint8Array | undefined;
    for await (const chunk of readBody(body)) {
      hash.update(chunk);
      read += chunk.byteLength;
      if (read > size) break;
      if (held !== undefined) yield held;
      held = chunk;
    }
    if (read !== size) throw sizeMismatch(size, read);
    const found = hash.digest('hex');
    if (sha256 !== undefined && sha256 !== found)
      throw new StoreProblem('corrupt', `the body's SHA-256 is ${found}, expected ${sha256}`);
    result = { size, sha256: found };
    if (held !== undefined) yield held;
  }

  return {
    size,
    chunks: chunks(),
    result() {
      if (result === undefined) throw new Error('internal: the body has not been read to its end');
      return result;
    },
  };
}

function sizeMismatch(size: number, read: number): StoreProblem {
  const found = read > size ? 'has more' : `ended after ${read}`;
  return new StoreProblem('corrupt', `the body was announced with ${size} bytes but ${found}`);
}

async function bodySize(body: ObjectBody): Promise<number> {
  if (body instanceof Uint8Array) return body.byteLength;
  if (!('path' in body)) return body.size;
  try {
    return (await stat(body.path)).size;
  } catch (cause) {
    throw unreadable(cause);
  }
}

async function* readBody(body: ObjectBody): AsyncGenerator<Uint8Array, void, undefined> {
  if (body instanceof Uint8Array) {
    for (let at = 0; at < body.byteLength; at += readChunkBytes) yield body.subarray(at, at + readChunkBytes);
    return;
  }
  const stream: Readable =
    'path' in body ? createReadStream(body.path, { highWaterMark: readChunkBytes }) : body.stream;
  const chunks = (stream as AsyncIterable<Uint8Array | string>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await chunks.next().catch((cause: unknown) => {
        throw unreadable(cause);
      });
      if (next.done === true) return;
      yield typeof next.value === 'string' ? Buffer.from(next.value) : next.value;
    }
  } finally {
    stream.destroy();
  }
}

function unreadable(cause: unknown): StoreProblem {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StoreProblem('invalid', `the body to store cannot be read: ${detail}`, cause);
}
