// A file that lives as long as one request, so that a dataset is never held in memory.
import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProblemError } from '../problem.ts';

const flushBytes = 1 << 20;

export interface ScratchFile {
  readonly path: string;
  write(part: string | Uint8Array): Promise<void>;
  /** Ends the file; it can be read until `remove`. */
  close(): Promise<{ size: number; sha256: string }>;
  remove(): Promise<void>;
}

/** @throws ProblemError store_unavailable, also from its methods, where the folder for temporary files is full or closed. */
export async function openScratch(): Promise<ScratchFile> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-dataset-')).catch(noRoom);
  const path = join(folder, 'rows.jsonl');
  const file = await open(path, 'wx', 0o600).catch(noRoom);
  const hash = createHash('sha256');
  let size = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  const flush = async (): Promise<void> => {
    const bytes = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    hash.update(bytes);
    // At a position: a Worker's file keeps none of its own.
    for (let at = 0; at < bytes.byteLength;)
      at += (await file.write(bytes, at, bytes.byteLength - at, size + at).catch(noRoom)).bytesWritten;
    size += bytes.byteLength;
  };
  return {
    path,
    async write(part) {
      const bytes =
        typeof part === 'string'
          ? Buffer.from(part)
          : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      held.push(bytes);
      heldBytes += bytes.byteLength;
      if (heldBytes >= flushBytes) await flush();
    },
    async close() {
      await flush();
      await file.close().catch(noRoom);
      return { size, sha256: hash.digest('hex') };
    },
    async remove() {
      await file.close().catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function noRoom(cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new ProblemError('store_unavailable', `the service cannot keep the upload in ${tmpdir()}: ${why}`, {
    cause,
  });
}
