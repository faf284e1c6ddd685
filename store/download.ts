// The reading side that both stores share: which ranges can be asked for, and a stream that
// ends well only when all of its bytes came.
import { Readable } from 'node:stream';

import { StoreProblem, type StoreError } from './error.ts';
import type { ByteRange } from './store.ts';

/** Throws `invalid` for a range that no object has. */
export function checkRange(range: ByteRange | undefined): void {
  if (range === undefined) return;
  const { start, end = start } = range;
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= start && start <= end) return;
  throw new StoreProblem('invalid', `there is no byte range ${start}-${range.end ?? ''}`);
}

export function rangeOutside({ start, end }: ByteRange): StoreProblem {
  return new StoreProblem('invalid', `the object has no bytes in the range ${start}-${end ?? ''}`);
}

/**
 * The bytes of `source` as a stream. It fails, with what `toStoreError` makes of the fault, when
 * the transfer breaks or when not exactly `size` bytes came (undefined: the size is not known).
 */
export function download(
  source: Readable,
  size: number | undefined,
  toStoreError: (cause: unknown) => StoreError,
): Readable {
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    let received = 0;
    try {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        received += chunk.byteLength;
        yield chunk;
      }
      if (size !== undefined && received !== size)
        throw new StoreProblem('corrupt', `${received} of ${size} bytes were received`);
    } catch (cause) {
      throw toStoreError(cause);
    } finally {
      source.destroy();
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}
